// What went wrong, as a member of the object that a command prints with --json.
#ifndef HEDDLE_TOOLS_JSON_ERROR_H_
#define HEDDLE_TOOLS_JSON_ERROR_H_

#include "base/json.h"
#include "base/status.h"

// "error": code, message, place and the text that standard error gets. `s` is an error, and stays the caller's.
void json_error_put(json_writer *w, heddle_status s);

#endif
