"""The OpenAPI document of a service: FastAPI writes it, of types that pydantic knows.

The routes of this document answer nothing: `app.py` reads and answers requests. A test holds the
two together.
"""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field, create_model

from onlinekern._config import version
from onlinekern.estimators.answers import ANSWERS
from onlinekern.serve.service import Service

Label = str | int | float | bool
# Kind of a column -> what its value may be in JSON.
VALUES: dict[str, Any] = {
    "number": float | bool | None, "boolean": bool | float | None,
    "category": str | float | bool | None, "hashed": str | float | bool | None,
    "date": str | None, "text": str | None, "ignore": Any,
}  # fmt: skip
REFUSALS = {
    400: "no JSON, or rows, labels or weights that are none",
    401: "a token is needed",
    413: "the body is too large",
    415: "the body is packed",
    422: "a label or an answer that this model does not have",
    503: "the queue is full, or the server shuts down: Retry-After says when to ask again",
}
COVERAGE = "The share of the targets that intervals are to hold."


class Body(BaseModel):
    """Base of what is sent."""

    model_config = ConfigDict(extra="forbid")


class Error(BaseModel):
    """Answer to a request that was refused: nothing was learnt."""

    error: str


class Predictions(BaseModel):
    """Answers to rows: labels or targets, scores or probabilities of the classes, lower and upper
    ends (null is infinite), or for each class whether it is in the set.
    """

    predictions: list[Label | list[float | bool | list[float | None] | None]]
    classes: list[Label] | None = None


class Learnt(BaseModel):
    """Answer to rows that were learnt; the predictions were made before."""

    learnt: int
    n_seen: int | None
    sequence: int
    snapshot_sequence: int
    predictions: list[Label | list[float]]


class About(BaseModel):
    """What the model is."""

    model: str
    method: str
    task: Literal["classification", "regression", "outliers"]
    n_features: int
    feature_names: list[str] | None
    columns: dict[str, str] | None = Field(description="Kinds of the columns of a table.")
    classes: list[Label] | None
    n_seen: int | None
    n_support: int | None
    learns: bool
    onlinekern: str


class Health(BaseModel):
    """Whether requests should be sent here, and what is wrong in words."""

    status: Literal["ok", "degraded"]
    ready: bool
    learns: bool
    problems: list[str]
    sequence: int | None = None
    snapshot_sequence: int | None = None


def row_type(about: dict[str, Any]) -> Any:
    """Return the type of a row of a model: values in the order of the columns, or by name."""
    kinds, names = about["columns"], about["feature_names"]
    if kinds is None and names is None:
        return list[float | bool | None]
    named = kinds or dict.fromkeys(names, "number")
    given: dict[str, Any] = {
        f"column_{k}": (VALUES[kind], Field(None, alias=name, description=kind))
        for k, (name, kind) in enumerate(named.items())
    }
    row = create_model("Row", __base__=Body, **given)
    return row | list[float | bool | str | None]


def bodies(about: dict[str, Any]) -> tuple[Any, Any]:
    """Return the types of what /predict and /learn take."""
    row = row_type(about)
    rows: dict[str, Any] = {
        "rows": (GenericAlias(list, (row,)) | None, Field(None, description="Samples.")),
        "row": (row | None, Field(None, description="One sample, in the place of rows.")),
    }
    asked: dict[str, Any] = {
        "what": (Literal[tuple(ANSWERS)] | None, None),
        "coverage": (Annotated[float, Field(gt=0, lt=1)] | None, Field(None, description=COVERAGE)),
    }
    predict = create_model("ToPredict", __base__=Body, **rows, **asked)
    targets: Any = Label if about["task"] == "classification" else float
    more: dict[str, Any] = {} if about["task"] == "outliers" else {
        "y": (list[targets] | targets, Field(description="A label or target for each row."))
    }  # fmt: skip
    more["sample_weight"] = (list[float] | float | None, None)
    return predict, create_model("ToLearn", __base__=Body, **rows, **more)


def taking(body: Any) -> Callable[..., None]:
    """Return a function that takes a body of this type, as FastAPI looks at it."""

    def answer(body: Any) -> None:
        # Its types are all that is looked at.
        return None

    answer.__annotations__ = {"body": body}
    return answer


def nothing() -> None:
    # A request without a body.
    return None


def document(service: Service) -> dict[str, Any]:
    """Return the OpenAPI document of a service."""
    about = service.description()
    predict, learn = bodies(about)
    refusals: dict[int | str, dict[str, Any]] = {
        code: {"model": Error, "description": text} for code, text in REFUSALS.items()
    }
    router = APIRouter()
    posts: dict[str, Any] = {"methods": ["POST"], "responses": refusals}
    router.add_api_route(
        "/predict", taking(predict), response_model=Predictions, summary="Predict rows", **posts
    )
    if about["learns"]:
        router.add_api_route(
            "/learn", taking(learn), response_model=Learnt, summary="Learn rows", **posts
        )
    for path, answer, text in (
        ("/model", About, "What the model is"),
        ("/health", Health, "Whether it works"),
        ("/health/ready", Health, "Whether requests should be sent here: 503 if not"),
    ):
        router.add_api_route(path, nothing, response_model=answer, summary=text)
    return get_openapi(
        title=f"{about['method']} of onlinekern",
        version=version(),
        description="Rows are predicted and learnt. docs/serving.md says the rest.",
        routes=router.routes,
    )
