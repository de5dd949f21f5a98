"""A real llama.cpp server in a process of its own: `python llama_cpp_server.py MODEL KEY [WINDOW [THREADS [NAME]]]`.

It prints its address, and ends when its standard input does.
"""

import os
import sys
from importlib import import_module

os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # before the library loads: waiting threads shall not burn the machine

NAME = "smollm2"
WINDOW = 1024


def main(model: str, key: str, window: str = str(WINDOW), threads: str = "1", name: str = NAME) -> None:
    llama_cpp = import_module("xllamacpp")  # it comes without types
    params = llama_cpp.CommonParams()
    params.model.path = model
    params.model_alias = {name}
    params.api_keys = [key]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = int(window)
    params.n_parallel = 2
    params.kv_unified = True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    params.cache_ram_mib = 64
    params.verbosity = 0
    params.ui = False
    params.warmup = False
    server = llama_cpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # its threads would wait for connections that nobody closes


if __name__ == "__main__":
    main(*sys.argv[1:])
