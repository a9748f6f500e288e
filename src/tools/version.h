// The version that --version prints.
#ifndef HEDDLE_TOOLS_VERSION_H_
#define HEDDLE_TOOLS_VERSION_H_

#define HEDDLE_VERSION "0.11"

#endif
