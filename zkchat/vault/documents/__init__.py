"""Files besides notes that are searched and linked like them: canvases, Excalidraw drawings, PDFs."""
