/* heddle plan: what the kernels of a definition will do on each target, and what limits them.
 * SPDX-License-Identifier: MIT
 */
#include "cli/kernel.h"

#include "cost/traffic.h"
#include "harness/cases.h"
#include "harness/interpret.h"
#include "harness/reference.h"
#include "model/scop.h"

#include <math.h>
#include <string.h>

/* Statement instances up to which the program is run to count its traffic. */
static const double countable = 2e6;

typedef struct plan_row {
	const char *key;
	const char *value;
} plan_row;

/* The plan for one target: rows in order. */
typedef struct plan {
	const heddle_target *target;
	const char *config, *proof;
	int n_row;
	plan_row *row;
	json_t *json; /* the same rows, as numbers in base units; NULL without --json */
	const heddle_plan *made;
} plan;

/* Takes `json`. */
static void add_row(heddle_cli *cli, plan *p, const char *key, const char *value, json_t *json)
{
	plan_row row = {key, value};
	HEDDLE_PUSH(cli->arena, p->row, p->n_row, row);
	json_object_set_new(p->json, key, json);
}

/* Counts and bytes without a fraction. */
static json_t *whole_json(double value)
{
	return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

static const char *bytes_text(heddle_cli *cli, double bytes)
{
	char buffer[32];
	return heddle_arena_strdup(cli->arena, heddle_cli_bytes(bytes, buffer));
}

/* ---- the program's own facts ---------------------------------------------------------------------------------------------- */

/* Values of the program's sizes by name; NULL when one is not fixed. */
static const int64_t *program_sizes(heddle_cli *cli, const heddle_program *program, const heddle_definition *definition)
{
	int64_t *value = HEDDLE_NEW_ARRAY(cli->arena, int64_t, program->n_size + 1);
	for (int i = 0; i < definition->n_size; i++)
		if (definition->size[i]->min != definition->size[i]->max)
			return NULL;
	for (int i = 0; i < program->n_size; i++)
		for (int k = 0; k < definition->n_size; k++)
			if (!strcmp(program->size[i].name, definition->size[k]->name))
				value[i] = definition->size[k]->min;
	return value;
}

/* A number where the sizes give one, else the formula. */
static void add_value(heddle_cli *cli, plan *p, const char *key, const heddle_value *value, const int64_t *size, bool bytes)
{
	int64_t number = value && value->kind == HEDDLE_VALUE_INT ? value->i : 0;
	bool known = value && (value->kind == HEDDLE_VALUE_INT || (size && heddle_value_evaluate(value, size, &number) == 0));
	if (known) {
		add_row(cli, p, key, bytes ? bytes_text(cli, (double)number) : heddle_arena_printf(cli->arena, "%lld", (long long)number),
			json_integer(number));
		return;
	}
	heddle_text text = {0};
	if (value)
		heddle_value_print(value, &text);
	add_row(cli, p, key, heddle_arena_strdup(cli->arena, heddle_text_str(&text)), json_string(heddle_text_str(&text)));
	heddle_text_free(&text);
}

/* Bytes of a shared or register buffer; its extents are constants. */
static double buffer_bytes(const heddle_buffer *buffer)
{
	double n = heddle_type_size(buffer->type) * buffer->width;
	for (int d = 0; d < buffer->rank; d++) {
		int64_t extent = buffer->extent[d]->i;
		n *= (double)(extent + (d == buffer->rank - 1 ? buffer->pad : 0));
	}
	return n;
}

/* Register arrays that a launch declares. */
static void register_buffers(const heddle_node *node, double *bytes, heddle_text *names)
{
	if (!node)
		return;
	if (node->kind == HEDDLE_NODE_DECLARE) {
		*bytes += buffer_bytes(node->buffer);
		if (!strstr(heddle_text_str(names), node->buffer->name))
			heddle_text_printf(names, "%s%s", names->length ? " " : "", node->buffer->name);
	}
	for (int i = 0; i < node->n_child; i++)
		register_buffers(node->child[i], bytes, names);
}

static void add_launch(heddle_cli *cli, plan *p, const heddle_launch *launch, const int64_t *size)
{
	const char *prefix = launch->name;
	double shared = 0, registers = 0;
	heddle_text names = {0};
	for (int i = 0; i < launch->n_shared; i++)
		shared += buffer_bytes(launch->shared[i]);
	register_buffers(launch->body, &registers, &names);
	add_value(cli, p, heddle_arena_printf(cli->arena, "%s blocks", prefix), launch->grid, size, false);
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s threads per block", prefix),
		heddle_arena_printf(cli->arena, "%d", launch->threads), json_integer(launch->threads));
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s shared memory per block", prefix), bytes_text(cli, shared), whole_json(shared));
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s arrays per thread", prefix),
		names.length ? heddle_arena_printf(cli->arena, "%s (%s)", bytes_text(cli, registers), names.data) : "none",
		json_pack("{s:o, s:s}", "bytes", whole_json(registers), "names", heddle_text_str(&names)));
	heddle_text_free(&names);
}

/* ---- counts --------------------------------------------------------------------------------------------------------------- */

/* What a launch asks one space for; with what sectors bring of it, where it was run. */
static void add_asked(heddle_cli *cli, plan *p, const char *prefix, const char *what, uint64_t bytes, const uint64_t *sectors)
{
	const char *asked = bytes_text(cli, (double)bytes);
	const double moved = sectors ? heddle_descriptor_transfer(p->target->descriptor).sector * (double)*sectors : 0;
	json_t *json = json_pack("{s:I}", "asked", (json_int_t)bytes);
	if (sectors)
		json_object_set_new(json, "moved", whole_json(moved));
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s %s", prefix, what),
		sectors ? heddle_arena_printf(cli->arena, "%s asked, %s moved", asked, bytes_text(cli, moved))
			: heddle_arena_printf(cli->arena, "%s asked", asked),
		json);
}

static void add_traffic(heddle_cli *cli, plan *p, const heddle_launch *launch, const heddle_interpret_launch *run, const heddle_traffic *text)
{
	const heddle_space global = HEDDLE_SPACE_GLOBAL, shared = HEDDLE_SPACE_SHARED;
	const heddle_interpret_traffic *ran = run ? run->space : NULL;
	add_asked(cli, p, launch->name, "global loads", ran ? ran[global].load_bytes : text->load_bytes[global], ran ? &ran[global].load_transactions : NULL);
	add_asked(cli, p, launch->name, "global stores", ran ? ran[global].store_bytes : text->store_bytes[global], ran ? &ran[global].store_transactions : NULL);
	if (launch->n_shared) {
		add_asked(cli, p, launch->name, "shared loads", ran ? ran[shared].load_bytes : text->load_bytes[shared], NULL);
		add_asked(cli, p, launch->name, "shared stores", ran ? ran[shared].store_bytes : text->store_bytes[shared], NULL);
	}
}

/* `run`: NULL, it was not; then what data decide about is left out. */
static void add_counts(heddle_cli *cli, plan *p, const heddle_program *program, const int64_t *size, const heddle_interpret *run)
{
	for (int i = 0; i < program->n_launch; i++) {
		const heddle_launch *launch = program->launch[i];
		const heddle_interpret_launch *l = run ? &run->launch[i] : NULL;
		heddle_traffic text;
		if (l || (heddle_launch_traffic(launch, size, &text) && !text.data))
			add_traffic(cli, p, launch, l, &text);
		if (!l)
			continue;
		add_row(cli, p, heddle_arena_printf(cli->arena, "%s barriers", launch->name),
			heddle_arena_printf(cli->arena, "%llu", (unsigned long long)l->barriers), json_integer((json_int_t)l->barriers));
		add_row(cli, p, heddle_arena_printf(cli->arena, "%s float operations", launch->name),
			heddle_arena_printf(cli->arena, "%llu", (unsigned long long)l->float_operations),
			json_integer((json_int_t)l->float_operations));
	}
}

static heddle_array *array_of(const heddle_definition *definition, heddle_array *const *array, const heddle_buffer *buffer)
{
	for (int i = 0; i < definition->n_tensor; i++)
		if (!strcmp(definition->tensor[i]->name, buffer->name))
			return array[i];
	return NULL;
}

/* Bytes from the text; small problems are run in the interpreter, which counts transactions, too. */
static int count_traffic(heddle_cli *cli, const heddle_module *module, const heddle_definition *definition,
			 heddle_program *program, const int64_t *size, plan *p)
{
	int64_t *value = HEDDLE_NEW_ARRAY(cli->arena, int64_t, definition->n_size + 1);
	for (int i = 0; i < definition->n_size; i++)
		value[i] = definition->size[i]->min;
	if (heddle_reference_cost(definition, value) > countable) {
		add_counts(cli, p, program, size, NULL);
		return 0;
	}
	heddle_array **array = HEDDLE_NEW_ARRAY(cli->arena, heddle_array *, definition->n_tensor + 1);
	if (heddle_case_arrays(cli->ctx, module, definition, value, HEDDLE_FILL_RANDOM, 1, array) < 0)
		return -1;
	heddle_array **argument = HEDDLE_NEW_ARRAY(cli->arena, heddle_array *, program->n_buffer + 1);
	for (int i = 0; i < program->n_buffer; i++)
		if (program->buffer[i]->role != HEDDLE_BUFFER_SHARED && program->buffer[i]->role != HEDDLE_BUFFER_REGISTER)
			argument[i] = array_of(definition, array, program->buffer[i]);
	heddle_program_number(program);
	heddle_interpret run = {.arena = cli->arena,
				.program = program,
				.size = size,
				.array = argument,
				.seed = 1,
				.transfer = heddle_descriptor_transfer(p->target->descriptor),
				.unaligned_vectors = heddle_dialect_language(p->target->dialect).unaligned_vectors};
	int result = heddle_interpret_run(cli->ctx, &run);
	if (result == 0)
		add_counts(cli, p, program, size, &run);
	for (int i = 0; result == 0 && i < run.n_finding; i++)
		heddle_text_printf(&cli->err, "%s: %s: %s\n", p->target->text, run.finding[i].kind, run.finding[i].text);
	heddle_case_arrays_free(definition, array);
	return result;
}

/* ---- report --------------------------------------------------------------------------------------------------------------- */

static void add_group(heddle_cli *cli, plan *p, const char *prefix, const heddle_plan_group *group)
{
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s %s", prefix, group->name),
		heddle_arena_printf(cli->arena, "%s, %s a block, %s in all: %s", group->space, bytes_text(cli, group->footprint),
				    bytes_text(cli, group->traffic), group->why),
		json_pack("{s:s, s:o, s:o, s:s}", "space", group->space, "block", whole_json(group->footprint), "traffic",
			  whole_json(group->traffic), "why", group->why));
}

static const char *seconds_text(heddle_cli *cli, double seconds)
{
	char buffer[32];
	return isnan(seconds) ? "not known" : heddle_arena_strdup(cli->arena, heddle_cli_seconds(seconds, buffer));
}

static void add_parts(heddle_cli *cli, plan *p, const char *key, const heddle_rating *r)
{
	const struct {
		const char *name;
		double seconds;
	} part[] = {{"issue", r->issue}, {"shared", r->shared}, {"cache", r->cache}, {"memory", r->memory},
		    {"latency", r->latency}, {"spill", r->spill}, {"launch", r->launch}};
	heddle_text text = {0};
	json_t *json = json_object();
	for (size_t i = 0; i < HEDDLE_COUNT(part); i++) {
		json_object_set_new(json, part[i].name, json_real(part[i].seconds));
		if (part[i].seconds > 0)
			heddle_text_printf(&text, "%s %s, ", part[i].name, seconds_text(cli, part[i].seconds));
	}
	heddle_text_printf(&text, "%.0f %% of the units' time without a block", 100 * r->tail);
	json_object_set_new(json, "tail", json_real(r->tail));
	add_row(cli, p, key, heddle_arena_strdup(cli->arena, heddle_text_str(&text)), json);
	heddle_text_free(&text);
}

static void add_rating(heddle_cli *cli, plan *p, const heddle_plan_launch *l)
{
	const heddle_rating *r = &l->rating;
	const double intensity = r->traffic > 0 ? l->flops / r->traffic : 0;
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s model: registers", l->name),
		r->spilled > 0 ? heddle_arena_printf(cli->arena, "%.0f a thread, %.0f of them spilled", l->load.registers, r->spilled)
			       : heddle_arena_printf(cli->arena, "%.0f a thread", l->load.registers),
		whole_json(l->load.registers));
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s model: occupancy", l->name),
		heddle_arena_printf(cli->arena, "%.0f %%, %.0f blocks per unit, limited by %s", 100 * r->occupancy, r->resident, r->limiter),
		json_pack("{s:f, s:o, s:s}", "share", r->occupancy, "blocks_per_unit", whole_json(r->resident), "limiter", r->limiter));
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s model: waves", l->name), heddle_arena_printf(cli->arena, "%.2f", r->waves),
		json_real(r->waves));
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s model: traffic", l->name), bytes_text(cli, r->traffic), whole_json(r->traffic));
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s model: work", l->name),
		heddle_arena_printf(cli->arena, "%.4g Mflop, %.3g flop/byte", l->flops / 1e6, intensity),
		json_pack("{s:o, s:f}", "flops", whole_json(l->flops), "flops_per_byte", intensity));
	add_parts(cli, p, heddle_arena_printf(cli->arena, "%s model: parts", l->name), r);
	add_row(cli, p, heddle_arena_printf(cli->arena, "%s model: time", l->name),
		heddle_arena_printf(cli->arena, "%s, bound by %s", seconds_text(cli, r->seconds), r->bound),
		json_pack("{s:f, s:s}", "seconds", r->seconds, "bound", r->bound));
}

static void add_model(heddle_cli *cli, plan *p, const heddle_plan *made)
{
	for (int k = 0; k < made->n_launch; k++) {
		const heddle_plan_launch *l = &made->launch[k];
		for (int g = 0; g < l->n_group; g++)
			add_group(cli, p, l->name, &l->group[g]);
		if (l->known)
			add_rating(cli, p, l);
		else
			add_row(cli, p, heddle_arena_printf(cli->arena, "%s model: time", l->name),
				"not known: data decide how often a loop runs", json_pack("{s:n, s:n}", "seconds", "bound"));
	}
}

/* What the launches take together, and what they cannot take less than. */
static void add_total(heddle_cli *cli, plan *p, const heddle_plan *made)
{
	const bool known = !isnan(made->seconds);
	const heddle_memory *memory = heddle_descriptor_memory(p->target->descriptor, "global");
	const double factor = known && made->roofline > 0 ? made->seconds / made->roofline : 0;
	add_row(cli, p, "least traffic", bytes_text(cli, made->least_traffic), whole_json(made->least_traffic));
	if (memory && memory->bandwidth.set)
		add_row(cli, p, "time for that at full bandwidth", seconds_text(cli, made->least_traffic / memory->bandwidth.value),
			json_real(made->least_traffic / memory->bandwidth.value));
	add_row(cli, p, "roofline", heddle_arena_printf(cli->arena, "%s: that, or %.4g Mflop at the peak rate", seconds_text(cli, made->roofline), made->flops / 1e6),
		json_real(made->roofline));
	add_row(cli, p, "time", seconds_text(cli, made->seconds), known ? json_real(made->seconds) : json_null());
	add_row(cli, p, "times the roofline", known ? heddle_arena_printf(cli->arena, "%.2f", factor) : "not known", known ? json_real(factor) : json_null());
	p->made = made;
}

static int make_plan(heddle_cli *cli, const heddle_module *module, const heddle_definition *definition,
		     const heddle_target *target, plan *p)
{
	*p = (plan){.target = target, .json = cli->result ? json_object() : NULL};
	heddle_plan *made = NULL;
	heddle_program *program = heddle_cli_program(cli, definition, target, &(heddle_compile_options){.plan_arena = cli->arena, .plan = &made});
	if (!program)
		return -1;
	const int64_t *size = program_sizes(cli, program, definition);
	p->config = heddle_arena_strdup(cli->arena, program->config ? program->config : "");
	p->proof = heddle_arena_strdup(cli->arena, program->proof ? program->proof : "");
	add_row(cli, p, "launches", heddle_arena_printf(cli->arena, "%d", program->n_launch), json_integer(program->n_launch));
	add_value(cli, p, "workspace", program->workspace, size, true);
	for (int i = 0; i < program->n_launch; i++)
		add_launch(cli, p, program->launch[i], size);
	add_model(cli, p, made);
	int result = size ? count_traffic(cli, module, definition, program, size, p) : 0;
	add_total(cli, p, made);
	heddle_program_free(program);
	return result;
}

static const char *value_of(const plan *p, const char *key)
{
	for (int i = 0; i < p->n_row; i++)
		if (!strcmp(p->row[i].key, key))
			return p->row[i].value;
	return NULL;
}

static bool same_everywhere(const plan *p, int n, const char *key)
{
	for (int i = 1; i < n; i++) {
		const char *a = value_of(&p[0], key), *b = value_of(&p[i], key);
		if (!a || !b || strcmp(a, b) != 0)
			return false;
	}
	return true;
}

/* Rows of plan `k`, unless an earlier one had the same key. */
static void add_rows(const plan *p, int n, int k, bool only_differences, heddle_text *rows)
{
	for (int i = 0; i < p[k].n_row; i++) {
		const char *key = p[k].row[i].key;
		bool seen = only_differences && same_everywhere(p, n, key);
		for (int j = 0; j < k && !seen; j++)
			seen = value_of(&p[j], key) != NULL;
		if (seen)
			continue;
		heddle_text_add(rows, key);
		for (int j = 0; j < n; j++)
			heddle_text_printf(rows, "\t%s", value_of(&p[j], key) ? value_of(&p[j], key) : "-");
		heddle_text_add(rows, "\n");
	}
}

/* Open sizes count as values that are usual. */
static int64_t model_size(const heddle_size *size)
{
	return heddle_scop_estimate(NULL, &(heddle_expr){.kind = HEDDLE_EXPR_SIZE, .size = (heddle_size *)size});
}

static void print_model_sizes(const heddle_definition *definition, heddle_text *out)
{
	int n = 0;
	for (int i = 0; i < definition->n_size; i++) {
		const heddle_size *s = definition->size[i];
		if (s->min != s->max)
			heddle_text_printf(out, "%s%s=%lld", n++ ? "," : "  times and traffic of the model are for ", s->name, (long long)model_size(s));
	}
	if (n)
		heddle_text_printf(out, ", which %s open: -s says other sizes\n", n > 1 ? "are" : "is");
}

static json_t *model_sizes_json(const heddle_definition *definition)
{
	json_t *sizes = json_object();
	for (int i = 0; i < definition->n_size; i++)
		json_object_set_new(sizes, definition->size[i]->name, json_integer(model_size(definition->size[i])));
	return sizes;
}

static void print_reasons(const plan *p, heddle_text *out)
{
	char seconds[32];
	if (p->made->n_reason)
		heddle_text_printf(out, "\nWhy it takes more than the roofline on %s, and what would be saved without:\n", p->target->text);
	for (int i = 0; i < p->made->n_reason; i++)
		heddle_text_printf(out, "  %s  %s\n", heddle_cli_seconds(p->made->reason[i].seconds, seconds), p->made->reason[i].text);
}

static void print_plans(heddle_cli *cli, const heddle_definition *definition, const plan *p, int n)
{
	heddle_text rows = {0};
	for (int i = 0; i < n; i++)
		heddle_text_printf(&cli->out, "%s on %s: %s\n  config %s\n", definition->name, p[i].target->text, p[i].proof,
				   p[i].config);
	print_model_sizes(definition, &cli->out);
	for (int i = 0; i < n; i++)
		heddle_text_printf(&rows, "\t%s", p[i].target->text);
	heddle_text_add(&rows, "\n");
	for (int k = 0; k < n; k++)
		add_rows(p, n, k, heddle_cli_flag(cli, HEDDLE_OPTION_DIFF), &rows);
	heddle_cli_table(heddle_text_str(&rows), &cli->out);
	heddle_text_free(&rows);
	for (int i = 0; i < n; i++)
		print_reasons(&p[i], &cli->out);
}

static json_t *plan_json(const plan *p)
{
	json_t *reasons = json_array();
	for (int i = 0; i < p->made->n_reason; i++)
		json_array_append_new(reasons, json_pack("{s:f, s:s}", "seconds", p->made->reason[i].seconds, "text", p->made->reason[i].text));
	return json_pack("{s:s, s:s, s:s, s:O, s:o}", "target", p->target->text, "proof", p->proof, "config", p->config, "rows", p->json, "reasons", reasons);
}

static int show_plans(heddle_cli *cli, const heddle_module *module, const heddle_definition *definition, const heddle_target *target,
		      int n_target)
{
	plan *p = HEDDLE_NEW_ARRAY(cli->arena, plan, n_target + 1);
	int result = 0;
	for (int i = 0; i < n_target && result == 0; i++)
		result = make_plan(cli, module, definition, &target[i], &p[i]);
	if (result == 0 && cli->result) {
		json_t *plans = json_array();
		for (int i = 0; i < n_target; i++)
			json_array_append_new(plans, plan_json(&p[i]));
		json_object_set_new(cli->result, "definition", json_string(definition->name));
		json_object_set_new(cli->result, "model_sizes", model_sizes_json(definition));
		json_object_set_new(cli->result, "plans", plans);
	} else if (result == 0) {
		print_plans(cli, definition, p, n_target);
	}
	for (int i = 0; i < n_target; i++)
		json_decref(p[i].json);
	return result;
}

static int plan_definition(heddle_cli *cli, heddle_module *module, const heddle_target *target, int n_target)
{
	const heddle_definition *definition = heddle_cli_definition(cli, module);
	if (!definition)
		return -1;
	heddle_cli_say_took(cli, &(heddle_took){.n_definition = 1, .definition = &definition, .n_target = n_target, .target = target});
	bool stop = heddle_cli_flag(cli, HEDDLE_OPTION_STOP);
	if (stop || heddle_cli_flag(cli, HEDDLE_OPTION_DUMP) || heddle_cli_flag(cli, HEDDLE_OPTION_TIME_PASSES))
		for (int i = 0; i < n_target; i++)
			if (heddle_cli_show_passes(cli, definition, &target[i]) < 0)
				return -1;
	if (stop)
		return 0;
	if (heddle_cli_flag(cli, HEDDLE_OPTION_SWEEP))
		return heddle_cli_show_sweep(cli, definition, target, n_target);
	if (heddle_cli_flag(cli, HEDDLE_OPTION_TOP))
		return heddle_cli_show_top(cli, definition, target, n_target);
	return show_plans(cli, module, definition, target, n_target);
}

int heddle_cli_plan(heddle_cli *cli)
{
	heddle_target *target;
	int n_target;
	heddle_size_list *sizes;
	if (heddle_cli_check_passes(cli) < 0 || heddle_cli_targets(cli, heddle_usual_plan, &target, &n_target) < 0 ||
	    heddle_cli_sizes(cli, 0, &sizes) < 0)
		return -1;
	if (heddle_cli_flag(cli, HEDDLE_OPTION_DIFF) && n_target < 2)
		return heddle_error(cli->ctx, 915, NULL, "--diff needs two targets: -t A,B");
	if (heddle_cli_flag(cli, HEDDLE_OPTION_TOP) + heddle_cli_flag(cli, HEDDLE_OPTION_SWEEP) + heddle_cli_flag(cli, HEDDLE_OPTION_DIFF) > 1)
		return heddle_error(cli->ctx, 915, NULL, "--top, --sweep and --diff are different questions: give one of them");
	heddle_module *module = heddle_cli_module(cli, cli->word[0], sizes);
	if (!module)
		return -1;
	int result = plan_definition(cli, module, target, n_target);
	heddle_module_free(module);
	return result;
}
