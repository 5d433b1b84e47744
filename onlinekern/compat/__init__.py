"""The learners as models of other libraries; each module needs the library in question."""
