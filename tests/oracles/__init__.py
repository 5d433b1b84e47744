"""Slow, readable NumPy twins of everything that the package computes.

Each module follows the papers' equations, one sample at a time, in float64, and imports NumPy
only: the twins are independent, so they never share code with the package. They should be obviously
right; speed does not matter. `test_oracles.py` checks the twins against cases computed by hand.

References used throughout
--------------------------
.. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online passive-aggressive
   algorithms", JMLR 7, 2006.
.. [2] J. Kivinen, A. Smola, R. Williamson, "Online learning with kernels", IEEE Trans. Signal
   Processing 52(8), 2004.
.. [3] J. Lu, P. Zhao, S. Hoi, "Online sparse passive aggressive learning with kernels",
   SDM 2016, Algorithm 1.
.. [4] S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter, "Pegasos: primal estimated
   sub-gradient solver for SVM", Mathematical Programming 127, 2011.
.. [5] F. Rosenblatt, "The perceptron", Psychological Review 65(6), 1958; in kernel form
   Y. Freund, R. Schapire, Machine Learning 37, 1999.
.. [6] K. Crammer, Y. Singer, "On the algorithmic implementation of multiclass kernel-based
   vector machines", JMLR 2, 2001.
.. [7] L. Zhang, J. Yi, R. Jin, M. Lin, X. He, "Online kernel learning with a near optimal sparsity
   bound", ICML 2013.
"""
