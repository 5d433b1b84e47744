from onlinekern.core.linalg.renewed_inverse import RenewedInverse

class ChosenPrior(RenewedInverse):
    def coming_reg(self) -> float: ...
