"""The learners as models of other libraries; each module needs its library."""
