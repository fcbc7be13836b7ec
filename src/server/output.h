/*
 * output.h
 *		What the code printed, as events for the log.
 */
#ifndef SANDBOX_EXEC_OUTPUT_H
#define SANDBOX_EXEC_OUTPUT_H

#include "lib/stringinfo.h"
#include "../protocol/outlog.h"

/*
 * Append what was printed since the cursor to events, as elements of a JSON
 * array of {"type", "data"} objects, separated and followed by nothing.
 * Returns false when the area is not sound: the runner is hostile.
 */
extern bool output_append_events(const void *area, OutlogCursor *cursor, StringInfo events);

#endif
