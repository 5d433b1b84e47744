# Factors, inverses, eigenvectors, sketches and scatter matrices.
