"""The words of search and statistics that sentences, tables and pages use, each explained in a sentence or two.

They are written for somebody who knows search and has never met the statistics. ``docs/glossary.md`` holds the same.
"""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """A word that needs explaining, and how it is explained.

    Attributes:
        name: As it stands in the glossary.
        topic: The heading it stands under.
        meaning: What it means, in a sentence or two.
        forms: How it is written in running text, as regular expressions; its name unless said.
    """

    name: str
    topic: str
    meaning: str
    forms: tuple[str, ...] = ()

    @property
    def written_as(self) -> tuple[str, ...]:
        """The forms that are looked for in running text."""
        return self.forms or (self.name,)


_LISTS = "How good a list of results is"
_SURE = "How sure that is"
_SCORES = "What a score is"
_SPACE = "What vectors look like"
_DATA = "What it is measured on"

GLOSSARY: tuple[Term, ...] = (
    Term(
        "nDCG",
        _LISTS,
        "How good a list of results is, from 0 to 1: a relevant document counts more the higher it stands. nDCG@10 "
        "looks at the first ten.",
        (r"n?DCG@\d+", r"ndcg@\d+", "nDCG"),
    ),
    Term(
        "MRR",
        _LISTS,
        "One over the rank of the first right result, averaged over queries: 1 if it always comes first, 0.5 if it "
        "comes second.",
        (r"MRR(?:@\d+)?", r"mrr@\d+", "reciprocal rank"),
    ),
    Term(
        "recall",
        _LISTS,
        "The share of all relevant documents among the first so many: recall@100 looks at the first hundred.",
        (r"[Rr]ecall@\d+", "[Rr]ecall"),
    ),
    Term(
        "precision",
        _LISTS,
        "The share of the first so many results that are relevant.",
        (r"[Pp]recision@\d+",),
    ),
    Term(
        "MAP",
        _LISTS,
        "The share of relevant results at each place where one stands, averaged over these places and over queries.",
        (r"map@\d+", r"MAP@\d+"),
    ),
    Term(
        "success",
        _LISTS,
        "The share of queries that find at least one relevant document among the first so many.",
        (r"success@\d+",),
    ),
    Term(
        "Spearman",
        _LISTS,
        "How well two orders agree, from -1 (one is the other reversed) over 0 (nothing in common) to 1 (the same): "
        "values count by their rank alone.",
        ("Spearman(?:'s correlation)?", "spearman"),
    ),
    Term(
        "Pearson",
        _LISTS,
        "How closely two lists of numbers follow a straight line, from -1 over 0 (not at all) to 1.",
        ("Pearson", "pearson"),
    ),
    Term(
        "95 % interval",
        _SURE,
        "Where the number would probably lie on other queries of the same kind: the true one is inside in 95 of 100 "
        "such studies. That of a difference goes with its p: it is wider where p is corrected, and holds 0 where p is "
        "0.05 or more.",
        ("95 % intervals?",),
    ),
    Term(
        "how sure",
        _SURE,
        "Every sentence uses one scale: very sure (p below 0.005), fairly sure (p below 0.05), may be chance (else). "
        "Surely nothing worth having: in 95 of 100 such studies the best gains less than what matters at least.",
        ("very sure", "fairly sure", "may be chance", "Surely nothing worth having"),
    ),
    Term(
        "smallest gain that matters",
        _SURE,
        "Smaller gains are not worth a change: 2 % of cosine's value or 0.01, whichever is more, unless --worth says "
        "another.",
    ),
    Term(
        "p",
        _SURE,
        "How often chance alone would give a difference as large as this. Below 0.005 the sentences say 'very sure', "
        "below 0.05 'fairly sure', above it 'may be chance', which does not show that there is no difference.",
        ("p(?= [=<] )", "^p$"),
    ),
    Term(
        "corrected",
        _SURE,
        "Whoever compares fifty scorers finds one that looks good by chance. Correction raises each p so that all rows "
        "together give a false alarm in at most 5 of 100 studies, and widens the intervals of differences.",
        ("corrected", "correction"),
    ),
    Term(
        "max-T",
        _SURE,
        "The correction used here (Westfall & Young 1993): each row is held against the largest difference that chance "
        "gives among all rows. Rows that resemble each other cost little.",
    ),
    Term(
        "planned comparison",
        _SURE,
        "A question asked before looking: is the dot product better than cosine, and what the model declares? Its p "
        "stands alone and is not corrected for the other rows.",
        ("[Pp]lanned comparisons?", "asked for beforehand"),
    ),
    Term(
        "held out",
        _SURE,
        "Judged on queries that took no part in choosing: nothing is praised for having learned the answers by heart.",
        ("held[- ]out", "took no part in the choice", "in which it had no say"),
    ),
    Term(
        "following the choice",
        _SURE,
        "Choosing a scorer by some queries and using it on others, in so many tries. The gain of doing so is held out, "
        "whatever was chosen; the scorer that is named is what all queries together choose.",
        ("[Ff]ollowing the choice", r"(?:none|[\d,]+) of [\d,]+ tries"),
    ),
    Term(
        "cross-validation",
        _SURE,
        "The queries are divided into parts; each part is judged with what was chosen on the others.",
    ),
    Term(
        "bootstrap",
        _SURE,
        "Drawing queries again and again, with repetition, to see how far a number moves when the queries are others.",
    ),
    Term(
        "Cohen's d",
        _SURE,
        "How far apart two groups are, in units of their spread: 0.2 is small, 0.5 medium, 0.8 large. Above 0 relevant "
        "documents have longer vectors, below 0 shorter ones.",
        ("Cohen's d", "d(?= = )", "^d$"),
    ),
    Term(
        "length",
        _SCORES,
        "How long a vector is (its L2 norm): the root of the sum of its squared numbers. Not how long the text is.",
        ("[Ll]ength of the vector",),
    ),
    Term(
        "cosine",
        _SCORES,
        "Compares the directions of two vectors alone; how long they are does not count.",
        ("cosine", "Cosine"),
    ),
    Term(
        "dot product",
        _SCORES,
        "Cosine times both lengths, also called inner product: documents with long vectors get higher scores.",
        ("dot product", "inner product", "dot"),
    ),
    Term(
        "exponent",
        _SCORES,
        "How strongly a document's length is divided out of its score: 0 is the dot product, 1 is cosine, between them "
        "length counts a little, beyond 1 short vectors are preferred.",
        ("[Ee]xponents?",),
    ),
    Term(
        "norm mixture",
        _SCORES,
        "Cosine and the lengths of both vectors, added in shares: with a share of 1 it is cosine alone, with 0 the "
        "lengths alone.",
        ("norm mixtures?",),
    ),
    Term(
        "normalise",
        _SCORES,
        "Divide a vector by its length, so that only its direction is left.",
        ("[Nn]ormali[sz]es?", "[Nn]ormali[sz]ed"),
    ),
    Term(
        "scorer",
        _SCORES,
        "What gives a query and a document their score: changes of the vectors, if any, then cosine or the like. It is "
        "what one deploys.",
        ("[Ss]corers?",),
    ),
    Term(
        "centring",
        _SCORES,
        "Subtracting the mean document from every vector, so that what all of them share no longer counts.",
        ("[Cc]entring", r"center(?= \+)"),
    ),
    Term(
        "whitening",
        _SCORES,
        "Shrinking the directions in which all documents differ much and stretching those in which they differ little, "
        "so that no few directions decide. whiten(0.5) does half of it.",
        ("[Ww]hitening", r"[Ww]hiten(?:\([\d.]+\))?"),
    ),
    Term(
        "CSLS",
        _SCORES,
        "Takes from each score how near a document is to queries in general, so that hubs come less often.",
        ("CSLS", "csls"),
    ),
    Term(
        "NNN",
        _SCORES,
        "Nearest-neighbour normalisation: takes from each document a share of the scores it gets from the queries "
        "nearest to it, so that hubs come less often.",
        ("NNN", r"nnn(?:\([\d.]+\))?"),
    ),
    Term(
        "lowering",
        _SCORES,
        "Changing stored vectors and queries once, so that the plain inner product of a search engine ranks as the "
        "scorer does.",
        ("[Ll]owering", r"scorer\.lower\(\)"),
    ),
    Term(
        "hub",
        _SPACE,
        "A document that is among the nearest of very many queries, whatever they ask. An anti-hub is among "
        "the nearest of none.",
        ("[Aa]nti-hubs?", "[Hh]ubs?"),
    ),
    Term(
        "isotropy",
        _SPACE,
        "Vectors point in all directions alike. Anisotropy is the opposite: they lie in a narrow cone, and any two "
        "have a high cosine.",
        ("[Ii]sotropy", "[Aa]nisotropy", "IsoScore"),
    ),
    Term(
        "effective rank",
        _SPACE,
        "How many directions the vectors really use, whatever their number of dimensions.",
    ),
    Term(
        "rogue dimension",
        _SPACE,
        "One of the numbers of a vector that is so large in all of them that it makes everything look alike.",
    ),
    Term(
        "vector length",
        _SPACE,
        "How long a vector is as an arrow (its norm), which the model gives it; not how long the text is. Cosine "
        "ignores it, the dot product lets it count.",
        ("[Vv]ector lengths?",),
    ),
    Term(
        "text length",
        _SPACE,
        "The number of characters of a text. At equal text length: what is left of a difference between vectors after "
        "that part is taken away which text length explains.",
        ("text length held fixed", "text length regressed out", "(?:at equal )?text length"),
    ),
    Term(
        "rivals",
        _SPACE,
        "The hundred documents that cosine ranks first for a query and that are not relevant: what a relevant document "
        "has to stand out from.",
        ("[Rr]ivals?",),
    ),
    Term(
        "judgments",
        _DATA,
        "Which documents are relevant to which query, said by people or taken from what they did.",
        ("[Jj]udgments",),
    ),
    Term(
        "made judgments",
        _DATA,
        "Judgments that no person gave: queries were made from the documents themselves, and each asks for its own. "
        "They say which scorer finds a known document, not what people want.",
        ("made judgments", "judged by a program", "made by a program"),
    ),
    Term(
        "declares",
        _DATA,
        "What the makers of a model wrote into its files about how its vectors are to be compared.",
        ("declares",),
    ),
)


def glossary_markdown() -> str:
    """Write the glossary as a page of the guide.

    Returns:
        What ``docs/glossary.md`` holds.

    Example:
        >>> from offsphere.wording.glossary import glossary_markdown
        >>> glossary_markdown().splitlines()[0]
        '# Glossary'
    """
    lines = [
        "# Glossary",
        "",
        "The words that verdicts, tables and reports use, for somebody who knows search and no statistics. In a report",
        "each explains itself where it stands first in a section: point at it, tap it, or reach it with the tab key.",
    ]
    for topic in dict.fromkeys(term.topic for term in GLOSSARY):
        lines += ["", f"## {topic}", ""]
        lines += [f"- **{term.name}**: {term.meaning}" for term in GLOSSARY if term.topic == topic]
    return "\n".join(lines) + "\n"
