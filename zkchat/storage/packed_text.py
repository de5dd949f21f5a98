"""JSON as a durable table holds it: longer ones deflated, with a dictionary of the words that all of them share.

Every value can be read by itself. zlib's own form is used, because it has a checksum, and names its dictionary.
"""

import zlib
from typing import Final

Packed = str | bytes
"""Text as it is, or deflated."""

_SHORTEST: Final = 512
"""Characters: shorter texts are stored as they are, for there is little to gain."""
_LONGEST: Final = 1 << 24
"""Characters: what unpacks to more bytes than such a text can have is damaged."""
_LEVEL: Final = 6

# What is stored is read with this dictionary: it must never change. A better one would be a second one.
_DICTIONARY: Final = (
    b'"status":"unfinished","error":""thinking_tokens":"tool_tokens":"usage":{"prompt_tokens":,"completion_tokens":'
    b',"thinking_tokens":0,"cached_tokens":0},"context_type":"tool_output","priority":3,"local":true,"abstained":true'
    b'{"kind":"goal","goal":{"id":"{"kind":"changes","message_id":"","decision":"applied","title":"","paths":[""],'
    b'"edited":false,"record":,"reason":"","told":"","diff":"--- a/+++ b/@@ -1,'
    b'{"kind":"compaction","number":,"summary":"","made_by":"","strategy":"summarize","focus":"","archived":["'
    b'"],"condensed":[{"message_id":"","call_id":"","text":"","is_earlier":true,"lacks_documents":false}],'
    b'"references":[],"tokens_before":,"tokens_after":}'
    b'{"kind":"file","name":".md","media_type":"text/plain","text":"","extent":"","digest":"","server":""}'
    b'{"kind":"thinking","text":"{"kind":"tool_call","call_id":"call_","name":"search_notes","arguments":"{\\"query\\":'
    b' \\"\\"}"}{"kind":"tool_result","call_id":"call_","name":"read_note","text":"","failed":false}'
    b'"reference_type":"direct","status":"missing","via":"link","candidates":["","hits":2,"included":true,"extent":"",'
    b'"date":"20","outdated_by":"[[","outdates":["[["]","digest":"","cited":true,"unverified":true,"anchor_found":false'
    b'{"type":"system","name":"{"type":"tool","name":"{"type":"rule","name":"{"type":"memory","name":"'
    b'{"type":"summary","name":"summary {"type":"reference","name":".md","include":"always","part_of":"'
    b'{"kind":"content","bodies":[{"kind":"content","digest":"","text":"# </note>\\n<note path=\\".md\\">\\n'
    b'"},{"kind":"content","digest":"","text":"<message assistant 20[\xe2\x80\xa6] "},{"kind":"content","digest":"'
    b'","text":"<message user 20 [\xe2\x80\xa6]</message>"},{"kind":"content","digest":"'
    b'[{"type":"evidence","name":".md","digest":"","reason":"","part_of":""},{"type":"message","name":"","tokens":},'
    b'{"type":"recall","name":"","title":"","include":"agent","tokens":,"digest":"'
    b'","reason":"said earlier, and archived","passing":true},{"type":"recall","name":"'
    b'{"kind":"message","message":{"id":"","session_id":"","parent_id":"","role":"user","parts":[{"kind":"text","text":"'
    b'"},{"kind":"evidence","evidence":[{"text":"","relative_path":".md","title":"","wikilink":"[[]]","heading":"'
    b'","lines":{"first":,"last":},"score":0.,"linked":true,"date":null,"outdated_by":"","outdates":[]},{"text":"'
    b'","linked":false,"date":null,"outdated_by":"","outdates":[]}],"nearest":[],"is_doubtful":true,"excerpts":[],'
    b'"listing":null,"remark":""}],"evidence":[],"nearest":[{"text":""is_doubtful":false,"excerpts":[],"listing":null,'
    b'"remark":""}],"created_at":"20","token_count":,"augmented_token_count":}}"role":"assistant","parts":[{"kind":"text"'
    b',"text":""}],"references":[{"wikilink":"[[","relative_path":".md","reference_type":"search","via":"evidence","title"'
    b':"","anchor":"","lines":{"first":,"last":},"snippet":"","score":0.,"summary":"","included":true,"cited":true},'
    b'{"wikilink":"[["summary":""}],"created_at":"20","finished_at":"20","provider":"","model":"","token_count":'
    b',"request_context":{"agent":"default","can_read":true,"items":"0-12,","left_out":[["budget",""]],"left_out":[],'
    b'"usage":{"system":,"tools":,"messages":,"memory":,"references":0,"images":0,"window":8192,"reserve":,'
    b'"threshold":0.85,"estimated":true,"counted":,"traits":{"messages":,"greek and cyrillic":,"digits":,"foreign":'
    b',"latin":,"symbols":,"korean":,"east asia":},"budgets":{"system":{"used":,"limit":},"tools":{"used":,"limit":},'
    b'"messages":{"used":,"limit":},"memory":{"used":,"limit":}}}}}}'
)


def pack(text: str) -> Packed:
    """Text as it is stored. Raises `UnicodeEncodeError` for half of a surrogate pair."""
    if not _SHORTEST <= len(text) <= _LONGEST:
        return text
    deflating = zlib.compressobj(_LEVEL, zdict=_DICTIONARY)
    return deflating.compress(text.encode()) + deflating.flush()


def unpack(stored: Packed) -> str:
    """The text again. Raises `ValueError` for what is damaged."""
    if isinstance(stored, str):
        return stored
    inflating = zlib.decompressobj(zdict=_DICTIONARY)
    try:
        whole = inflating.decompress(stored, 4 * _LONGEST)
    except zlib.error as error:
        raise ValueError(f"Invalid packed text: {error}") from error
    if not inflating.eof or inflating.unused_data:
        raise ValueError("Invalid packed text: it has no end, or goes on after it.")
    return whole.decode()
