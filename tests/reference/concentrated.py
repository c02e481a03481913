"""The delta of rho-zCDP by its formula, the least over all orders, in many digits."""

from decimal import Decimal, localcontext


def decimal(value):
    """A fraction as a decimal of the context's digits."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def log_delta(rho, epsilon, order):
    """Logarithm of exp(s (alpha rho - epsilon)) / s * (1 - 1/alpha)**alpha at alpha = 1 + s."""
    alpha = 1 + order
    return order * (alpha * rho - epsilon) - order.ln() + alpha * (order / alpha).ln()


def least_log_delta(rho, epsilon, digits=50):
    """The least over all orders: it is convex in the order, so the least of a walk is near."""
    with localcontext() as context:
        context.prec = digits
        rho, epsilon = decimal(rho), decimal(epsilon)

        def at(order):
            return log_delta(rho, epsilon, order)

        order = Decimal(1)
        for factor in (Decimal(2), Decimal("0.5")):
            while at(order * factor) < at(order):
                order *= factor
        low, high = order / 2, order * 2
        for _ in range(100):
            third = (high - low) / 3
            if at(low + third) < at(high - third):
                high -= third
            else:
                low += third
        return at(low)


def log(value, digits=50):
    """The logarithm of a fraction in as many digits."""
    with localcontext() as context:
        context.prec = digits
        return decimal(value).ln()
