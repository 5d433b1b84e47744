"""The formats of files, each as blocks of rows in bounded memory."""
