/* What is here to validate with, and how to add the rest.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEDDLE_DOCTOR_H
#define HEDDLE_DOCTOR_H

#include "base/base.h"

/* Look for every driver and compiler (a few seconds: drivers are asked in child processes) and report as a table, or as one
 * JSON document { "schema": "heddle.doctor/1", "version", "levels": [ { "level", "name", "backend", "available", "version",
 * "devices": [ { "name", "version" } ], "add" } ], and for each loader "BACKEND_devices": [..] } ended by a newline. */
void heddle_doctor(heddle_ctx *ctx, bool json, heddle_text *out);

#endif
