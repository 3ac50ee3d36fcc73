/* The workspace of a program: where its temporaries lie.
 * SPDX-License-Identifier: MIT
 */
#include "model/program.h"

heddle_value *heddle_program_slot(heddle_program *p, const heddle_buffer *buffer)
{
	heddle_value *unit = heddle_value_int(p, HEDDLE_INT64, 256);
	heddle_value *bytes = heddle_value_int(p, HEDDLE_INT64, heddle_type_size(buffer->type));
	for (int i = 0; i < buffer->rank; i++)
		bytes = heddle_value_binary(p, HEDDLE_OP_MUL, bytes, buffer->extent[i]);
	bytes = heddle_value_binary(p, HEDDLE_OP_ADD, bytes, heddle_value_int(p, HEDDLE_INT64, 255));
	return heddle_value_binary(p, HEDDLE_OP_MUL, heddle_value_floor(p, HEDDLE_VALUE_FLOOR_DIV, bytes, unit), unit);
}

void heddle_program_lay_out(heddle_program *p)
{
	heddle_value **was = HEDDLE_NEW_ARRAY(p->arena, heddle_value *, p->n_buffer + 1);
	heddle_value *end = heddle_value_int(p, HEDDLE_INT64, 0);
	for (int b = 0; b < p->n_buffer; b++)
		was[b] = p->buffer[b]->role == HEDDLE_BUFFER_TEMPORARY ? p->buffer[b]->offset : NULL;
	for (int b = 0; b < p->n_buffer; b++) {
		bool first = was[b] != NULL;
		for (int a = 0; a < b && first; a++)
			first = !was[a] || !heddle_value_equal(was[a], was[b]);
		if (!first)
			continue;
		heddle_value *bytes = NULL;
		for (int a = b; a < p->n_buffer; a++) {
			if (!was[a] || !heddle_value_equal(was[a], was[b]))
				continue;
			heddle_value *one = heddle_program_slot(p, p->buffer[a]);
			bytes = !bytes || heddle_value_equal(bytes, one) ? one : heddle_value_binary(p, HEDDLE_OP_MAX, bytes, one);
			p->buffer[a]->offset = end;
		}
		end = heddle_value_binary(p, HEDDLE_OP_ADD, end, bytes);
	}
	p->workspace = end;
}
