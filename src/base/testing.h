// What every unit test includes: cmocka, behind the headers that it needs and does not include itself.
#ifndef HEDDLE_BASE_TESTING_H_
#define HEDDLE_BASE_TESTING_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
