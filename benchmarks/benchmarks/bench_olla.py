"""Measure OLLA on a chess board: ten epochs, by loss and selection; and its exact solution."""

from onlinekern.streams import chess_board

from . import common

SETTINGS = {
    "hinge": {},
    "hinge cyclic": {"selection": "cyclic"},
    "hinge worst": {"selection": "max_violator", "n_epochs": 1},
    "logistic": {"loss": "logistic"},
    "newton": {
        "loss": "logistic",
        "solver": "newton",
        "fit_intercept": False,
        "C": 10.0,
    },
}


class Points:
    """A fit, with the outputs of all points or of the support vectors."""

    param_names = ["setting", "outputs", "dtype"]
    params = [list(SETTINGS), ["all", "support"], common.DTYPES]

    def setup(self, setting, outputs, dtype):
        if "OLLAClassifier" not in common.ALL or (setting, outputs) == ("hinge worst", "support"):
            raise NotImplementedError("OLLAClassifier")
        X, self.y = chess_board(20_000 if common.FULL else 2_000, random_state=0)
        self.X = X.astype(dtype)
        parameters = {"gamma": 8.0, "C": 100.0, "outputs": outputs, "tol": 0.0, "random_state": 0}
        self.parameters = {**parameters, **SETTINGS[setting]}
        self.model = self.learn()

    def learn(self):
        """Return a fitted learner."""
        return common.ALL["OLLAClassifier"](**self.parameters).fit(self.X, self.y)

    def time_fit(self, *_):
        self.learn()

    def track_errors(self, *_):
        return int((self.model.predict(self.X) != self.y).sum())

    track_errors.unit = "errors"

    def track_n_support(self, *_):
        return self.model.n_support_

    track_n_support.unit = "support vectors"


class Duals:
    """A fit of solver='smo', by offset and type of the samples."""

    param_names = ["fit_intercept", "dtype"]
    params = [[True, False], common.DTYPES]

    def setup(self, fit_intercept, dtype):
        X, self.y = chess_board(20_000 if common.FULL else 2_000, random_state=0)
        self.X = X.astype(dtype)
        self.parameters = {"gamma": 8.0, "C": 100.0, "fit_intercept": fit_intercept}

    def learn(self):
        """Return a fitted machine."""
        learner = common.ALL["OLLAClassifier"](solver="smo", **self.parameters)
        return learner.fit(self.X, self.y)

    def time_fit(self, *_):
        self.learn()

    def track_steps(self, *_):
        return self.learn().n_iter_

    track_steps.unit = "steps"
