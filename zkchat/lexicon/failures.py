"""Words by which people ask what went wrong, and signs of failure in what programs write."""

from typing import Final

FOR_A_FAILURE: Final = """
    fail failed failing fails failure failures error errors errored wrong broke broken breaks crash crashed crashes
    crashing problem problems issue issues bug bugs abort aborted exception exceptions died stopped hang hung trouble
    fehler fehlgeschlagen gescheitert schief kaputt abgestürzt absturz problem probleme ausnahme abgebrochen
    erreur erreurs échec échoué échoue panne problème planté
    errores fallo falló fallado fallos problema problemas excepción
    errore errori fallito problemi eccezione erro erros falha falhou falhas
    fout fouten mislukt storing
    ошибка ошибки упал упала сломалось сломался проблема сбой
"""

FOR_A_SUCCESS: Final = """
    pass passed succeed succeeded success successful work works worked working complete completed start started compile
    compiled bestanden geklappt funktioniert gestartet réussi marche fonctionne funciona funcionó
    funziona riuscito funcionou gelukt werkt прошёл работает запустился
"""
"""Denied, they ask for a failure too: "Which test did not pass?"."""

UNSPACED_FOR_A_FAILURE: Final = (
    "失败 错误 出错 报错 异常 故障 崩溃 失敗 錯誤 異常 崩潰 エラー 例外 不具合 クラッシュ 실패 오류 에러 장애"
)

SIGNS_OF_FAILURE: Final = (
    "error", "fail", "fatal", "critical", "severe", "exception", "traceback", "panic", "abort", "crash", "segfault",
    "segmentation fault", "core dumped", "out of memory", "killed", "denied", "refused", "unreachable", "timed out",
    "timeout", "cannot ", "can't ", "could not ", "unable to", "not found", "no such", "undefined", "unresolved",
    "rejected", "non-zero", "exit code 1", "exit code 2", "exit status 1", "exit status 2", "returned 1", "✗", "✘",
    "❌", "失败", "错误", "异常", "崩溃", "失敗", "錯誤", "異常", "エラー", "例外", "실패", "오류", "에러",
    "fehler", "fehlgeschlagen", "gescheitert", "erreur", "échec", "errore", "falló", "fallo", "falha", "ошибка", "сбой",
)  # fmt: skip
"""In lower case."""
