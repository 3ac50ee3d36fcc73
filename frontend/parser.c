/* Tokens to a syntax tree.  An error is recorded once and skipped over to the next statement or definition.
 * SPDX-License-Identifier: MIT
 */
#include "frontend/syntax.h"

#include <string.h>

enum { MAX_DEPTH = 200 };

typedef struct parser {
	heddle_ctx *ctx;
	heddle_arena *scratch;
	const token *token; /* the next one */
	const token *first;
	int depth;
	int nodes; /* of this statement */
} parser;

/* ---- tokens ---------------------------------------------------------------------------------------------------------- */

static const char *shown(const token *t)
{
	return t->kind == TOKEN_END ? "end of file" : t->text;
}

static const char *kind_name(int kind, char buffer[4])
{
	switch (kind) {
	case TOKEN_NAME:
		return "a name";
	case TOKEN_NUMBER:
		return "a number";
	case TOKEN_ARROW:
		return "`->`";
	case TOKEN_IN:
		return "`in`";
	default:
		buffer[0] = '`';
		buffer[1] = (char)kind;
		buffer[2] = '`';
		buffer[3] = 0;
		return buffer;
	}
}

static const token *next(parser *p)
{
	const token *t = p->token;
	if (t->kind != TOKEN_END)
		p->token++;
	return t;
}

static bool accept(parser *p, int kind)
{
	if (p->token->kind != kind)
		return false;
	next(p);
	return true;
}

/* About the token that cannot stand there, or else the one before it. */
static void note_hint(parser *p)
{
	const char *hint = heddle_hint_token(p->token);
	if (!hint && p->token > p->first)
		hint = heddle_hint_token(p->token - 1);
	if (hint)
		heddle_note(p->ctx, NULL, "%s", hint);
}

static const token *expect(parser *p, int kind)
{
	char buffer[4];
	if (p->token->kind == kind)
		return next(p);
	heddle_error(p->ctx, 3, &p->token->location, "expected %s but found `%s`", kind_name(kind, buffer),
		     shown(p->token));
	note_hint(p);
	return NULL;
}

static bool is_word(const token *t, const char *word)
{
	return t->kind == TOKEN_NAME && !strcmp(t->text, word);
}

/* From the first to the last token when they stand on one line, else the first. */
static heddle_location span(const token *first, const token *last)
{
	heddle_location where = first->location;
	if (last->location.line == where.line && last->location.column >= where.column)
		where.length = last->location.column + last->location.length - where.column;
	return where;
}

static heddle_location since(const parser *p, const token *first)
{
	return span(first, p->token > first ? p->token - 1 : first);
}

static const char *source_at(const heddle_location *where)
{
	const char *s = where->source->text;
	for (int line = 1; line < where->line; line++)
		s = strchr(s, '\n') + 1;
	return s + where->column - 1;
}

/* ---- expressions ------------------------------------------------------------------------------------------------------- */

static const struct {
	int token;
	int precedence;
	heddle_op op;
} binaries[] = {
	{TOKEN_OR, 1, HEDDLE_OP_OR},   {TOKEN_AND, 2, HEDDLE_OP_AND}, {'<', 3, HEDDLE_OP_LT},
	{'>', 3, HEDDLE_OP_GT},	       {TOKEN_LE, 3, HEDDLE_OP_LE},   {TOKEN_GE, 3, HEDDLE_OP_GE},
	{TOKEN_EQ, 3, HEDDLE_OP_EQ},   {TOKEN_NE, 3, HEDDLE_OP_NE},   {'|', 4, HEDDLE_OP_BITOR},
	{'^', 5, HEDDLE_OP_BITXOR},    {'&', 6, HEDDLE_OP_BITAND},    {TOKEN_SHL, 7, HEDDLE_OP_SHL},
	{TOKEN_SHR, 7, HEDDLE_OP_SHR}, {'+', 8, HEDDLE_OP_ADD},	      {'-', 8, HEDDLE_OP_SUB},
	{'*', 9, HEDDLE_OP_MUL},       {'/', 9, HEDDLE_OP_DIV},	      {'%', 9, HEDDLE_OP_MOD},
};

static syntax_expr *parse_expr(parser *p);

static syntax_expr *node(parser *p, syntax_kind kind, int n_arg)
{
	syntax_expr *e = HEDDLE_NEW(p->scratch, syntax_expr);
	p->nodes++;
	e->kind = kind;
	e->n_arg = n_arg;
	e->arg = n_arg ? HEDDLE_NEW_ARRAY(p->scratch, syntax_expr *, n_arg) : NULL;
	return e;
}

/* '(' [exp {',' exp}] ')', the opening parenthesis already read. */
static int parse_list(parser *p, int *n, syntax_expr ***list)
{
	if (accept(p, ')'))
		return 0;
	do {
		syntax_expr *e = parse_expr(p);
		if (!e)
			return -1;
		HEDDLE_PUSH(p->scratch, *list, *n, e);
	} while (accept(p, ','));
	return expect(p, ')') ? 0 : -1;
}

static syntax_expr *parse_min_max(parser *p, const token *t)
{
	syntax_expr *e = node(p, SYNTAX_BINARY, 0);
	e->op = t->kind == TOKEN_MIN ? HEDDLE_OP_MIN : HEDDLE_OP_MAX;
	if (!expect(p, '(') || parse_list(p, &e->n_arg, &e->arg))
		return NULL;
	e->location = since(p, t);
	if (e->n_arg != 2) {
		heddle_error(p->ctx, 8, &e->location, "`%s` takes 2 arguments but got %d", t->text, e->n_arg);
		return NULL;
	}
	return e;
}

static syntax_expr *parse_primary(parser *p)
{
	const token *t = p->token;
	syntax_expr *e;
	switch (t->kind) {
	case TOKEN_NUMBER:
		next(p);
		e = node(p, SYNTAX_NUMBER, 0);
		e->is_float = t->is_float;
		e->f = t->f;
		e->i = t->i;
		break;
	case '(':
		next(p);
		e = parse_expr(p);
		if (!e || !expect(p, ')'))
			return NULL;
		break;
	case TOKEN_TYPE:
		next(p);
		e = node(p, SYNTAX_CAST, 1);
		e->type = t->type;
		if (!expect(p, '(') || !(e->arg[0] = parse_expr(p)) || !expect(p, ')'))
			return NULL;
		break;
	case TOKEN_MIN:
	case TOKEN_MAX:
		next(p);
		return parse_min_max(p, t);
	case TOKEN_NAME:
		next(p);
		e = node(p, SYNTAX_NAME, 0);
		e->name = t->text;
		if (accept(p, '(')) {
			e->has_arg = true;
			if (parse_list(p, &e->n_arg, &e->arg))
				return NULL;
		}
		break;
	default:
		heddle_error(p->ctx, 5, &t->location, "expected an expression but found `%s`", shown(t));
		if (t->kind == '+')
			heddle_note(p->ctx, NULL, "there is no unary +");
		else if (t->kind == '*' && t > p->first && t[-1].kind == '*')
			heddle_note(p->ctx, NULL, "a power is `x * x`, or `pow(x, y)`");
		else
			note_hint(p);
		return NULL;
	}
	e->location = since(p, t);
	return e;
}

static syntax_expr *parse_unary(parser *p)
{
	const token *t = p->token;
	if (t->kind != '-' && t->kind != '!')
		return parse_primary(p);
	if (++p->depth > MAX_DEPTH) {
		heddle_error(p->ctx, 10, &t->location, "expression is nested too deeply");
		return NULL;
	}
	next(p);
	syntax_expr *e = node(p, SYNTAX_UNARY, 1);
	e->op = t->kind == '-' ? HEDDLE_OP_NEG : HEDDLE_OP_NOT;
	e->arg[0] = parse_unary(p);
	e->location = since(p, t);
	p->depth--;
	return e->arg[0] ? e : NULL;
}

static int find_binary(int kind)
{
	for (int i = 0; i < (int)HEDDLE_COUNT(binaries); i++)
		if (binaries[i].token == kind)
			return i;
	return -1;
}

static syntax_expr *parse_binary(parser *p, int precedence)
{
	const token *first = p->token;
	syntax_expr *left = parse_unary(p);
	int i, length = 0;
	while (left && (i = find_binary(p->token->kind)) >= 0 && binaries[i].precedence >= precedence) {
		if (++length > 10 * MAX_DEPTH) {
			heddle_error(p->ctx, 10, &p->token->location, "expression is too long");
			return NULL;
		}
		next(p);
		syntax_expr *e = node(p, SYNTAX_BINARY, 2);
		e->op = binaries[i].op;
		e->arg[0] = left;
		e->arg[1] = parse_binary(p, binaries[i].precedence + 1);
		e->location = since(p, first);
		left = e->arg[1] ? e : NULL;
	}
	return left;
}

static syntax_expr *parse_select(parser *p)
{
	const token *first = p->token;
	syntax_expr *condition = parse_binary(p, 1);
	if (!condition || !accept(p, '?'))
		return condition;
	syntax_expr *e = node(p, SYNTAX_SELECT, 3);
	e->arg[0] = condition;
	if (!(e->arg[1] = parse_expr(p)) || !expect(p, ':') || !(e->arg[2] = parse_expr(p)))
		return NULL;
	e->location = since(p, first);
	return e;
}

static syntax_expr *parse_expr(parser *p)
{
	if (++p->depth > MAX_DEPTH) {
		heddle_error(p->ctx, 10, &p->token->location, "expression is nested too deeply");
		return NULL;
	}
	if (p->nodes > MAX_NODES) {
		heddle_error(p->ctx, 12, &p->token->location, "the statement has more than %d operands and operators", MAX_NODES);
		return NULL;
	}
	syntax_expr *e = parse_select(p);
	p->depth--;
	return e;
}

/* ---- statements -------------------------------------------------------------------------------------------------------- */

static bool assignment(int kind, heddle_assign *assign, bool *initialise)
{
	static const struct {
		int token;
		heddle_assign assign;
		bool initialise;
	} table[] = {
		{'=', HEDDLE_ASSIGN_SET, false},
		{TOKEN_SET_ADD, HEDDLE_ASSIGN_ADD, false},
		{TOKEN_SET_MUL, HEDDLE_ASSIGN_MUL, false},
		{TOKEN_SET_MIN, HEDDLE_ASSIGN_MIN, false},
		{TOKEN_SET_MAX, HEDDLE_ASSIGN_MAX, false},
		{TOKEN_NEW_ADD, HEDDLE_ASSIGN_ADD, true},
		{TOKEN_NEW_MUL, HEDDLE_ASSIGN_MUL, true},
		{TOKEN_NEW_MIN, HEDDLE_ASSIGN_MIN, true},
		{TOKEN_NEW_MAX, HEDDLE_ASSIGN_MAX, true},
	};
	for (size_t i = 0; i < HEDDLE_COUNT(table); i++) {
		if (table[i].token == kind) {
			*assign = table[i].assign;
			*initialise = table[i].initialise;
			return true;
		}
	}
	return false;
}

/* `argmax=!` and `argmin=!` are words only where an assignment stands: the tokens NAME, '=', '!' without blanks. */
static bool is_arg(const token *t)
{
	return is_word(t, "argmax") || is_word(t, "argmin");
}

static bool arg_assignment(const token *t)
{
	return is_arg(t) && t[1].kind == '=' && t[1].location.line == t->location.line &&
	       t[1].location.column == t->location.column + t->location.length;
}

static int parse_arg(parser *p, syntax_statement *s)
{
	const token *word = next(p), *equals = next(p);
	s->arg = true;
	s->initialise = true;
	s->assign = is_word(word, "argmax") ? HEDDLE_ASSIGN_MAX : HEDDLE_ASSIGN_MIN;
	if (p->token->kind == '!' && p->token->location.line == equals->location.line &&
	    p->token->location.column == equals->location.column + 1) {
		next(p);
		return 0;
	}
	heddle_location where = span(word, equals);
	heddle_error(p->ctx, 6, &where, "`%s=` has nothing to begin with", word->text);
	heddle_note(p->ctx, NULL, "an index alone does not say what the extreme was so far");
	heddle_fixit(p->ctx, "%s=!", word->text);
	return -1;
}

static int parse_clause(parser *p, syntax_statement *s)
{
	const token *t = p->token;
	syntax_clause c = {.kind = CLAUSE_EXISTS, .location = t->location};
	if (accept(p, TOKEN_EXISTS)) {
		if (!(c.a = parse_expr(p)))
			return -1;
	} else {
		if (!expect(p, TOKEN_NAME))
			return -1;
		c.name = t->text;
		if (accept(p, '=')) {
			c.kind = CLAUSE_LET;
			if (!(c.a = parse_expr(p)))
				return -1;
		} else if (accept(p, TOKEN_IN)) {
			c.kind = CLAUSE_RANGE;
			if (!(c.a = parse_expr(p)) || !expect(p, ':') || !(c.b = parse_expr(p)))
				return -1;
		} else {
			heddle_error(p->ctx, 3, &p->token->location, "expected `in` or `=` but found `%s`", shown(p->token));
			return -1;
		}
	}
	HEDDLE_PUSH(p->scratch, s->clause, s->n_clause, c);
	return 0;
}

static int parse_equivalent(parser *p)
{
	int n = 0;
	syntax_expr **list = NULL;
	return expect(p, TOKEN_NAME) && expect(p, '(') ? parse_list(p, &n, &list) : -1;
}

/* '(' name {',' name} ')' '=' */
static int parse_outputs(parser *p, syntax_statement *s)
{
	next(p);
	do {
		const token *name = expect(p, TOKEN_NAME);
		if (!name)
			return -1;
		int n = s->n_output;
		HEDDLE_PUSH(p->scratch, s->output_location, n, name->location);
		HEDDLE_PUSH(p->scratch, s->output, s->n_output, name->text);
		if (n > MAX_PARAMS) {
			heddle_error(p->ctx, 12, &name->location, "a call has more than %d results", MAX_PARAMS);
			return -1;
		}
	} while (accept(p, ','));
	s->name = s->output[0];
	return expect(p, ')') && expect(p, '=') ? 0 : -1;
}

static int unknown_type(parser *p, const token *t)
{
	const char *type = heddle_hint_type(t->text);
	heddle_error(p->ctx, 121, &t->location, "unknown type `%s`%s%s%s", t->text, type ? ", did you mean `" : "", type ? type : "",
		     type ? "`?" : "");
	if (type)
		heddle_fixit(p->ctx, "%s", type);
	else
		heddle_note(p->ctx, NULL, "types are bool, int8 to int64, uint8 to uint64, float16, bfloat16, float and double");
	return -1;
}

/* What follows `name` is none. */
static int no_assignment(parser *p, syntax_statement *s, const token *name)
{
	const token *found = p->token;
	if (name + 1 == found && found->kind == TOKEN_NAME && heddle_hint_type(name->text)) {
		s->name = found->text;
		return unknown_type(p, name);
	}
	heddle_error(p->ctx, 6, &found->location, "expected an assignment operator but found `%s`", shown(found));
	const char *hint = heddle_hint_token(found);
	heddle_note(p->ctx, NULL, "%s", hint ? hint : "one of = += *= min= max= +=! *=! min=! max=! argmin=! argmax=!");
	if (found->kind == '-' || found->kind == '/')
		heddle_note(p->ctx, NULL, "there is no `%s=`", found->text);
	return -1;
}

static int parse_target(parser *p, syntax_statement *s)
{
	const token *first = p->token;
	s->location = first->location;
	if (first->kind == '(')
		return parse_outputs(p, s);
	if (first->kind == TOKEN_TYPE) {
		s->has_type = true;
		s->type = first->type;
		next(p);
	}
	s->location = p->token->location;
	const token *name = expect(p, TOKEN_NAME);
	if (!name)
		return -1;
	s->name = name->text;
	if (accept(p, '(') && parse_list(p, &s->n_lhs, &s->lhs))
		return -1;
	if (arg_assignment(p->token)) {
		if (parse_arg(p, s))
			return -1;
	} else if (assignment(p->token->kind, &s->assign, &s->initialise)) {
		next(p);
	} else {
		return no_assignment(p, s, name);
	}
	return 0;
}

/* Is this token a plausible beginning of a statement: `name =`, `name ( .. ) =` or `( .. ) =`? */
static bool statement_starts(const token *t)
{
	heddle_assign assign;
	bool initialise;
	if (t->kind == TOKEN_TYPE)
		t++;
	if (t->kind != TOKEN_NAME && t->kind != '(')
		return false;
	t += t->kind == TOKEN_NAME;
	if (t->kind == '(') {
		int depth = 0;
		do {
			if (t->kind == TOKEN_END || t->kind == '{' || t->kind == '}')
				return false;
			depth += (t->kind == '(') - (t->kind == ')');
			t++;
		} while (depth);
	}
	return assignment(t->kind, &assign, &initialise) || arg_assignment(t);
}

/* The next token must not be a part of the statement that could not be read. */
static int check_end(parser *p)
{
	const token *t = p->token;
	const bool where = heddle_hint_where(t);
	if (t->kind == TOKEN_END || t->kind == TOKEN_DEF || t->kind == '}' || statement_starts(t))
		return 0;
	if (t->line_start && !where && !heddle_hint_token(t))
		return 0; /* a statement with errors */
	heddle_error(p->ctx, 3, &t->location, "expected an operator, `where` or the next statement but found `%s`", t->text);
	if (where)
		heddle_fixit(p->ctx, "where");
	else
		note_hint(p);
	return -1;
}

static int parse_statement(parser *p, syntax_statement *s)
{
	const token *first = p->token;
	if (parse_target(p, s) || !(s->value = parse_expr(p)))
		return -1;
	if (accept(p, TOKEN_EQUIVALENT) && parse_equivalent(p))
		return -1;
	if (accept(p, TOKEN_WHERE)) {
		do
			if (parse_clause(p, s))
				return -1;
		while (accept(p, ','));
	}
	const token *last = p->token - 1;
	if (assignment(p->token->kind, &(heddle_assign){0}, &(bool){false}) || arg_assignment(p->token)) {
		heddle_error(p->ctx, 5, &s->location, "the statement ends in the middle of an expression");
		heddle_note(p->ctx, &p->token->location, "the next one begins before this `%s`", p->token->text);
		p->token = first + 1; /* that one is still to be read */
		return -1;
	}
	if (check_end(p))
		return -1;
	if (last->location.line == first->location.line)
		s->whole = span(first, last);
	return 0;
}

/* After an error: on to the next statement that begins a line, `}` or `def`. */
static void skip_statement(parser *p)
{
	while (p->token->kind != TOKEN_END && p->token->kind != '}' && p->token->kind != TOKEN_DEF) {
		if (p->token->line_start && statement_starts(p->token))
			return;
		next(p);
	}
}

/* ---- definitions ---------------------------------------------------------------------------------------------------------- */

static bool positive_int(const token *t)
{
	return t->kind == TOKEN_NUMBER && !t->is_float;
}

/* After a name: ['strides' '(' .. ')'] ['align' number], in any order. */
static int parse_layout(parser *p, syntax_param *param)
{
	while (!param->has_strides || !param->has_align) {
		const token *word = p->token;
		if (is_word(word, "strides") && !param->has_strides) {
			next(p);
			const token *first = p->token;
			param->has_strides = true;
			if (!expect(p, '(') || parse_list(p, &param->n_stride, &param->stride))
				return -1;
			param->stride_location = since(p, first);
		} else if (is_word(word, "align") && !param->has_align) {
			next(p);
			param->has_align = true;
			param->align_location = p->token->location;
			if (!positive_int(p->token))
				return expect(p, TOKEN_NUMBER) ? heddle_error(p->ctx, 129, &p->token[-1].location,
									      "an alignment is a whole number of bytes")
							       : -1;
			param->align = next(p)->i;
		} else {
			break;
		}
	}
	return 0;
}

/* NAME ['(' .. ')'] NAME, where a type and a name are meant? */
static bool looks_typed(const token *t)
{
	if (t++->kind != TOKEN_NAME)
		return false;
	if (t->kind == '(') {
		for (t++; t->kind != ')'; t++)
			if (t->kind == TOKEN_END || t->kind == '(' || t->kind == '{')
				return false;
		t++;
	}
	return t->kind == TOKEN_NAME && !is_word(t, "strides") && !is_word(t, "align");
}

static int parse_param(parser *p, bool is_return, syntax_param *param)
{
	*param = (syntax_param){0};
	const token *first = p->token;
	if (is_return && is_word(first, "inout") && (first[1].kind == TOKEN_TYPE || first[1].kind == TOKEN_NAME)) {
		param->is_inout = true;
		next(p);
	}
	if (!is_return && is_word(first, "size") && first[1].kind == TOKEN_NAME) {
		param->is_size = true;
		next(p);
	}
	if (p->token->kind == TOKEN_TYPE) {
		param->has_type = true;
		param->type = p->token->type;
		next(p);
		if (accept(p, '(') && parse_list(p, &param->n_dim, &param->dim))
			return -1;
	} else if (!param->is_size && looks_typed(p->token)) {
		return unknown_type(p, p->token);
	}
	param->location = p->token->location;
	const token *name = expect(p, TOKEN_NAME);
	if (!name)
		return -1;
	param->name = name->text;
	if (!param->has_type && !is_return && !param->is_size) {
		heddle_error(p->ctx, 121, &name->location, "parameter `%s` needs a type", name->text);
		heddle_note(p->ctx, NULL, "such as `float(M, N) %s`, or `size %s` for a size", name->text, name->text);
		return -1;
	}
	return parse_layout(p, param);
}

static int parse_params(parser *p, bool is_return, int *n, syntax_param **list)
{
	if (!expect(p, '('))
		return -1;
	if (accept(p, ')'))
		return 0;
	do {
		syntax_param param;
		if (parse_param(p, is_return, &param))
			return -1;
		HEDDLE_PUSH(p->scratch, *list, *n, param);
		if (*n > MAX_PARAMS) {
			heddle_error(p->ctx, 12, &param.location, "the definition has more than %d %s", MAX_PARAMS,
				     is_return ? "outputs" : "inputs");
			return -1;
		}
	} while (accept(p, ','));
	return expect(p, ')') ? 0 : -1;
}

static int parse_return(parser *p, syntax_definition *d)
{
	if (p->token->kind == TOKEN_NAME || p->token->kind == TOKEN_TYPE) {
		const token *first = p->token;
		syntax_param param;
		if (parse_param(p, true, &param))
			return -1;
		heddle_location where = since(p, first);
		heddle_error(p->ctx, 4, &where, "the return list needs parentheses");
		heddle_fixit(p->ctx, "(%.*s)", where.length, source_at(&where));
		HEDDLE_PUSH(p->scratch, d->ret, d->n_return, param);
		return 0;
	}
	return parse_params(p, true, &d->n_return, &d->ret);
}

/* NAME '=' [n] [':' n] ['*' [n]] as in -s. */
static int parse_size(parser *p, syntax_definition *d)
{
	const token *name = expect(p, TOKEN_NAME);
	if (!name || !expect(p, '='))
		return -1;
	if (d->sizes.n >= MAX_PARAMS)
		return heddle_error(p->ctx, 12, &name->location, "more than %d ranges of sizes", MAX_PARAMS);
	heddle_text text = {0};
	heddle_text_printf(&text, "%s=", name->text);
	while (positive_int(p->token) || p->token->kind == ':' || p->token->kind == '*')
		heddle_text_add(&text, next(p)->text);
	heddle_size_list *one = heddle_sizes_parse(p->ctx, p->scratch, heddle_text_str(&text));
	heddle_text_free(&text);
	if (!one || one->n != 1)
		return -1;
	for (int i = 0; i < d->sizes.n; i++) {
		if (!strcmp(d->sizes.range[i].name, one->range[0].name)) {
			heddle_error(p->ctx, 308, &name->location, "size `%s` is given twice", name->text);
			return -1;
		}
	}
	int n = d->sizes.n;
	HEDDLE_PUSH(p->scratch, d->size_location, n, name->location);
	HEDDLE_PUSH(p->scratch, d->sizes.range, d->sizes.n, one->range[0]);
	return 0;
}

static int parse_policy(parser *p, syntax_definition *d)
{
	const token *name = expect(p, TOKEN_NAME);
	if (!name)
		return -1;
	int policy = heddle_policy_parse(name->text);
	if (policy < 0) {
		static const char *const names[] = {"ieee", "relaxed"};
		const char *nearest = heddle_nearest(name->text, names, HEDDLE_COUNT(names));
		heddle_error(p->ctx, 134, &name->location, "there is no numeric policy `%s`", name->text);
		heddle_note(p->ctx, NULL,
			    !strcmp(name->text, "tf32") ? "no target has matrix instructions for it yet"
							: "they are `ieee`, the default, and `relaxed`");
		if (nearest)
			heddle_fixit(p->ctx, "%s", nearest);
		d->broken = true;
		return 0;
	}
	d->has_policy = true;
	d->policy = (heddle_policy)policy;
	return 0;
}

static int parse_head(parser *p, syntax_definition *d)
{
	const token *name = expect(p, TOKEN_NAME);
	if (!name)
		return -1;
	d->name = name->text;
	d->location = name->location;
	if (parse_params(p, false, &d->n_param, &d->param) || !expect(p, TOKEN_ARROW) || parse_return(p, d))
		return -1;
	for (;;) {
		if (is_word(p->token, "sizes") && !d->sizes.n) {
			next(p);
			do
				if (parse_size(p, d))
					return -1;
			while (accept(p, ','));
		} else if (is_word(p->token, "policy") && !d->has_policy) {
			next(p);
			if (parse_policy(p, d))
				return -1;
		} else {
			break;
		}
	}
	return expect(p, '{') ? 0 : -1;
}

static void parse_body(parser *p, syntax_definition *d)
{
	while (p->token->kind != '}') {
		if (p->token->kind == TOKEN_END || p->token->kind == TOKEN_DEF) {
			heddle_error(p->ctx, 11, &p->token->location, "definition `%s` has no closing `}`", d->name);
			heddle_note(p->ctx, &d->location, "it begins here");
			return;
		}
		syntax_statement s = {0};
		p->nodes = 0;
		if (d->n_statement >= MAX_STATEMENTS) {
			heddle_error(p->ctx, 12, &p->token->location, "the definition has more than %d statements", MAX_STATEMENTS);
			d->broken = true;
			while (p->token->kind != TOKEN_END && p->token->kind != '}')
				next(p);
			continue;
		}
		if (parse_statement(p, &s)) {
			d->broken = s.broken = true;
			skip_statement(p);
		}
		/* That the name of a broken one is written is still worth knowing. */
		if (s.name)
			HEDDLE_PUSH(p->scratch, d->statement, d->n_statement, s);
	}
	next(p);
}

void heddle_parse(heddle_ctx *ctx, heddle_arena *scratch, const token_list *tokens, syntax_file *out)
{
	parser p = {.ctx = ctx, .scratch = scratch, .token = tokens->token, .first = tokens->token};
	int before = heddle_error_count(ctx);
	while (p.token->kind != TOKEN_END && heddle_error_count(ctx) - before < MAX_ERRORS) {
		p.depth = p.nodes = 0;
		if (out->n_definition >= MAX_DEFINITIONS) {
			heddle_error(ctx, 12, &p.token->location, "the file has more than %d definitions", MAX_DEFINITIONS);
			return;
		}
		if (!accept(&p, TOKEN_DEF)) {
			heddle_error(ctx, 7, &p.token->location, "expected `def` but found `%s`", shown(p.token));
			while (p.token->kind != TOKEN_END && p.token->kind != TOKEN_DEF)
				next(&p);
			continue;
		}
		syntax_definition d = {0};
		if (parse_head(&p, &d)) {
			d.broken = true;
			while (p.token->kind != TOKEN_END && p.token->kind != TOKEN_DEF)
				next(&p);
		} else {
			parse_body(&p, &d);
		}
		HEDDLE_PUSH(scratch, out->definition, out->n_definition, d);
	}
}
