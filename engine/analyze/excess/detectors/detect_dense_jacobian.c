/* dense_jacobian: derivatives are made for each unit vector, from identity matrices on, and the
 * matrix that they make is only multiplied with a few vectors: products with the derivative itself
 * do the same for these vectors alone. */
#include "analyze/excess/linear.h"
#include "base/macros.h"

static const double  LEAST_SHARE = 0.03; /* of the steps */
static const int64_t SMALLEST = 32;      /* unit vectors */
static const double  PASSES = 2;         /* a product with it goes forward and back */
static const double  MOST_NEEDED = 0.5;

struct basis {
    struct waste *waste;
    uint32_t *reached; /* made of it by linear steps: instructions in the order they were found */
    bool     *is_reached;
    size_t    count;
    double    size;    /* unit vectors */
    double    vectors; /* that what they make is multiplied with in the end, each step */
};

static void reach(struct basis *basis, uint32_t op)
{
    if (basis->is_reached[op])
        return;
    basis->is_reached[op] = true;
    basis->reached[basis->count++] = op;
}

static int64_t identity_size(const struct waste *waste, uint32_t op)
{
    int64_t size = linear_identity(waste, op);

    return size >= SMALLEST ? size : 0;
}

/* How many of what it takes are made of the basis; what holds others has theirs. */
static size_t reached_operands(const struct basis *basis, uint32_t op)
{
    struct op_ids producers = op_graph_producers(basis->waste->graph, op);
    size_t        count = 0;

    for (size_t i = 0; i < producers.count; i++)
        count += basis->is_reached[producers.ids[i]];
    return count;
}

/* Sums over the unit vectors, over either axis of a square of the matrix, or over the longer axis
 * of the matrix itself. */
static bool ends_basis(const struct basis *basis, double elements, double inner)
{
    return inner == basis->size || inner * inner == elements ||
           (inner > basis->size && elements / inner <= basis->size);
}

/* A product takes the derivatives on, through another matrix or their own square, or ends them. */
static void take_product(struct basis *basis, uint32_t from, uint32_t op)
{
    const struct waste *waste = basis->waste;
    double              elements = compiled_elements(waste->compiled, from);
    double              made = compiled_elements(waste->compiled, op);
    double              pairs = (double)waste->profile->ops.items[op].flops / 2;
    bool   is_squared = reached_operands(basis, op) == op_graph_producers(waste->graph, op).count;
    double calls = waste_calls(waste, op) / waste_calls(waste, basis->reached[0]);

    /* Of the identity itself either axis counts the unit vectors. */
    if (is_squared || made <= 0 ||
        waste_is(basis->waste, compiled_maker(waste->compiled, from), "compare") ||
        !ends_basis(basis, elements, pairs / made))
        reach(basis, op);
    else
        basis->vectors += pairs / elements * (calls > 1 ? calls : 1);
}

/* One step of the derivatives. false: it is not linear in them. */
static bool take(struct basis *basis, uint32_t from, uint32_t op)
{
    enum linear_role role = linear_role(basis->waste, from, op);

    if (role == LINEAR_PRODUCT)
        take_product(basis, from, op);
    else
        reach(basis, op);
    return role != LINEAR_NOT || waste_is(basis->waste, op, "multiply|divide|select|broadcast");
}

static bool is_times_itself(const struct basis *basis, uint32_t op)
{
    return waste_is(basis->waste, op, "multiply|divide") &&
           reached_operands(basis, op) == op_graph_producers(basis->waste->graph, op).count;
}

static bool follow(struct basis *basis)
{
    for (size_t at = 0; at < basis->count; at++) {
        struct linear_reach takers = { .count = 0 };

        if (!linear_takers(basis->waste, basis->reached[at], &takers))
            return false;
        for (size_t i = 0; i < takers.count; i++)
            if (!take(basis, basis->reached[at], takers.ops[i]))
                return false;
    }
    for (size_t at = 0; at < basis->count; at++)
        if (is_times_itself(basis, basis->reached[at]))
            return false;
    return basis->vectors > 0;
}

static void mark(struct basis *basis)
{
    double needed = PASSES * basis->vectors / basis->size;

    for (size_t i = 0; i < basis->count && needed <= MOST_NEEDED; i++)
        waste_mark(basis->waste, basis->reached[i], 1 - needed);
}

/* Identities of one size in one program are one basis: the compiler makes it anew for each use. */
static void start(struct basis *basis, uint32_t first)
{
    const struct waste *waste = basis->waste;
    int64_t             size = identity_size(waste, first);

    for (size_t i = 0; i < basis->count; i++)
        basis->is_reached[basis->reached[i]] = false;
    basis->count = 0;
    basis->vectors = 0;
    basis->size = (double)size;
    for (uint32_t op = first; op < waste->graph->vertex_count; op++) {
        if (waste->profile->ops.items[op].program != waste->profile->ops.items[first].program)
            break;
        if (identity_size(waste, op) == size)
            reach(basis, op);
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;
    struct basis basis = { .waste = &waste };
    uint32_t     last_program = NO_ID;
    int64_t      last_size = 0;

    basis.reached =
        arena_new_array(ledger->scratch, uint32_t, ledger->study->profile->ops.count + 1);
    basis.is_reached =
        arena_new_array(ledger->scratch, bool, ledger->study->profile->ops.count + 1);
    if (!basis.reached || !basis.is_reached || !waste_open(&waste, ledger))
        return false;
    for (uint32_t op = 0; waste.graph && op < waste.graph->vertex_count; op++) {
        uint32_t program = waste.profile->ops.items[op].program;
        int64_t  size = identity_size(&waste, op);

        if (!size || (program == last_program && size == last_size))
            continue;
        last_program = program, last_size = size;
        start(&basis, op);
        if (follow(&basis))
            mark(&basis);
    }
    return !waste.graph ||
           waste_claim(&waste, self, LEAST_SHARE,
                       "a derivative for each unit vector, multiplied with a few vectors");
}

const struct detector detector_dense_jacobian = { "dense-jacobian", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                  find };
