"""Files of topologies: SNDlib's two formats, GraphML, TOML, the hub, and all their possible errors."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import SHIPPED
from netlull import InputError, NetlullWarning
from netlull.plot import network_map
from netlull.topology import Demand, Line, Node, Topology, markup
from netlull.topology.options import ReadOptions
from netlull.topology.read import LARGEST_BYTES, read_bytes

NETWORKS = Path(__file__).parent / "networks"
"""Three cities, in each format."""

NATIVE = (NETWORKS / "alps.native").read_text(encoding="utf-8")
XML = (NETWORKS / "alps.xml").read_text(encoding="utf-8")
GRAPHML = (NETWORKS / "alps.graphml").read_text(encoding="utf-8")
TOML = """name = "alps"
[nodes]
Wien = [16.37, 48.21]
Graz = [15.44, 47.07]
Linz = []
[[link]]
from = "Wien"
to = "Graz"
capacity = "2.4 Gb/s"
distance = "190.5 km"
[[link]]
from = "Graz"
to = "Linz"
delay = "1 ms"
cost = 3
[[demand]]
from = "Wien"
to = "Linz"
rate = "3.5805 Gb/s"
"""

Read = Callable[..., Topology]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads text, or bytes, from a file without an informative name."""

    def run(content: str | bytes, **options: object) -> Topology:
        path = tmp_path / "net"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return Topology.from_file(path, **options)  # type: ignore[arg-type]  # any option

    return run


@pytest.mark.parametrize("text", [NATIVE, XML], ids=["native", "xml"])
def test_sndlib(read: Read, text: str) -> None:
    topology = read(text)
    assert topology.nodes == (Node("Wien", 16.37, 48.21), Node("Graz", 15.44, 47.07), Node("Linz", 14.29, 48.31))
    # The installed capacity; without one, the smallest module; without any, None.
    assert [(line.label, line.name, line.capacity, line.cost) for line in topology.lines] == [
        ("Wien-Graz", "L1", "2.4 Gb/s", 7),
        ("Graz-Linz", "L2", "10 Gb/s", 1),
        ("Linz-Wien", "L3", None, 1),
    ]
    assert topology.demands == (Demand("Wien", "Linz", "3.5805 Gb/s"),)
    assert [line.capacity for line in read(text, modules="always").lines] == ["10 Gb/s", "10 Gb/s", None]
    assert [line.capacity for line in read(text, modules="never").lines] == ["2.4 Gb/s", None, None]


def test_native_and_xml_are_the_same(read: Read) -> None:
    assert read(NATIVE) == read(XML)


def test_native_without_a_heading_and_with_other_units(read: Read) -> None:
    # Files as on sndlib's mirrors: without the first line; some without a unit, some with STM-1 (155.52 Mb/s).
    text = NATIVE.partition("\n")[2]
    assert read(text) == read(NATIVE)
    other = text.replace("MBITPERSEC", "STM1")
    assert read(other).lines[0].capacity == "373.248 Gb/s"  # 2400 x 155.52 Mb/s
    unknown = text.replace("MBITPERSEC", "UNKNOWN")
    assert read(unknown).lines[0].capacity == "2.4 Gb/s"
    assert read(unknown, unit="kb/s").lines[0].capacity == "2.4 Mb/s"


@pytest.mark.parametrize("text", [NATIVE, XML], ids=["native", "xml"])
def test_pixels_are_no_places(read: Read, text: str) -> None:
    # One number is no latitude: then the others are none, either.
    topology = read(text.replace('coordinatesType="geographical"', "").replace("48.21", "348.21"))
    assert all(node.position is None for node in topology.nodes)
    assert topology.delay_ns(topology.lines[0]) is None
    in_range = XML.replace('coordinatesType="geographical"', 'coordinatesType="pixel"')
    assert read(in_range).nodes[0].position is None


def test_graphml(read: Read) -> None:
    topology = read(GRAPHML)
    assert topology.name == "Alps"
    # Repeated labels get their ids, dots are removed (invalid in names of a scenario), and other networks are dropped.
    assert [node.name for node in topology.nodes] == ["Wien", "Graz", "St Johann", "None (4)", "None (5)"]
    assert topology.nodes[0].position == (16.37, 48.21)
    assert topology.nodes[2].position is None
    assert [(line.label, line.capacity) for line in topology.lines] == [
        ("Wien-Graz", "2.5 Gb/s"),
        ("Graz-St Johann", "622 Mb/s"),
        ("St Johann-None (4)", "2.48832 Gb/s"),  # 48 x 51.84 Mb/s
        ("None (4)-None (5)", None),
    ]
    whole = read(GRAPHML, external="keep")
    assert whole.line("Wien-GEANT").capacity == "10 Gb/s"


def test_graphml_both_ways(read: Read) -> None:
    both = '<edge source="1" target="0"><data key="d36">2500000000.0</data></edge>\n</graph>'
    directed = GRAPHML.replace("undirected", "directed").replace("</graph>", both)
    # One of three links has a reverse: a second cable, or the other direction of the first?
    values = r"line 26: link Graz-Wien \(2.5 Gb/s\): is another cable, or the reverse of Wien-Graz \(2.5 Gb/s\)"
    with pytest.raises(InputError, match=values):
        read(directed)
    assert read(directed, parallel="reverse") == read(GRAPHML)
    assert read(directed, parallel="merge").line("Wien-Graz").capacity == "5 Gb/s"
    with pytest.raises(InputError, match=r"line 26: link Graz-Wien: is the reverse of link Wien-Graz; "):
        read(GRAPHML.replace("</graph>", both))


Edge = tuple[int, int, int]
"""Two nodes of a multigraph, and the capacity in Gb/s."""


def as_graphml(edges: list[Edge], default: str) -> str:
    nodes = "".join(f'<node id="{node}"/>' for node in range(4))
    links = "".join(f'<edge source="{a}" target="{b}"><data key="s">{c}000000000</data></edge>' for a, b, c in edges)
    keys = '<key id="s" for="edge" attr.name="LinkSpeedRaw" attr.type="double"/>'
    return f'<graphml>{keys}<graph edgedefault="{default}">{nodes}{links}</graph></graphml>'


def as_native(edges: list[Edge]) -> str:
    nodes = "".join(f"  {node} ( 1 {node} )\n" for node in range(4))
    links = "".join(f"  L{i} ( {a} {b} ) {c}000.00 0 0 0 ( )\n" for i, (a, b, c) in enumerate(edges))
    return f"META (\n  unit = MBITPERSEC\n)\nNODES (\n{nodes})\nLINKS (\n{links})\n"


def as_xml(edges: list[Edge]) -> str:
    nodes = "".join(f'<node id="{node}"/>' for node in range(4))
    links = "".join(
        f'<link id="L{i}"><source>{a}</source><target>{b}</target>'
        f"<preInstalledModule><capacity>{c}000</capacity></preInstalledModule></link>"
        for i, (a, b, c) in enumerate(edges)
    )
    network = f"<networkStructure><nodes>{nodes}</nodes><links>{links}</links></networkStructure>"
    return f'<network xmlns="http://sndlib.zib.de/network">{network}</network>'


def as_toml(edges: list[Edge]) -> str:
    links = "".join(f'[[link]]\nfrom = "{a}"\nto = "{b}"\ncapacity = "{c} Gb/s"\n' for a, b, c in edges)
    return "[nodes]\n0 = []\n1 = []\n2 = []\n3 = []\n" + links


def cables_of(text: str, **options: object) -> dict[frozenset[str], float | None] | str:
    """The capacities between nodes, or "parallel" if the file is refused for its parallel links."""
    try:
        made = read_bytes(text.encode(), "net", "net", ReadOptions.of(options))
    except InputError as error:
        return "parallel" if "is given twice" in str(error) else str(error)
    return {line.ends: line.capacity_bps for line in made.lines}


EDGES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([1, 10])).filter(lambda edge: edge[0] < edge[1]),
    min_size=1,
    max_size=8,
)


@given(EDGES, st.randoms(use_true_random=False))
def test_a_multigraph_is_the_same_in_every_format(edges: list[Edge], random: Random) -> None:
    sums: dict[frozenset[str], float] = {}
    for a, b, c in edges:
        ends = frozenset((str(a), str(b)))
        sums[ends] = sums.get(ends, 0) + c * 1e9
    turned = {pair for pair in {edge[:2] for edge in edges} if random.random() < 0.5}
    once = [(b, a, c) if (a, b) in turned else (a, b, c) for a, b, c in edges]
    both = [*edges, *((b, a, c) for a, b, c in edges)]
    random.shuffle(once)
    random.shuffle(both)
    texts = [as_graphml(edges, "undirected"), as_graphml(once, "undirected"), as_toml(once)]
    texts += [write(way) for write in (as_native, as_xml) for way in (once, both)]
    texts += [as_graphml(once, "directed"), as_graphml(both, "directed")]
    for text in texts:
        assert cables_of(text, parallel="merge") == sums, text
        assert cables_of(text) == (sums if len(sums) == len(edges) else "parallel"), text


@given(EDGES, st.randoms(use_true_random=False))
def test_directions_with_different_speeds_are_refused_with_both_values(edges: list[Edge], random: Random) -> None:
    both = [*edges, *((b, a, c) for a, b, c in edges)]
    index = random.randrange(len(both))
    a, b, c = both[index]
    both[index] = (a, b, c + 1)
    random.shuffle(both)
    for text in (as_graphml(both, "directed"), as_native(both), as_xml(both)):
        # Without merging, a second cable may be refused first.
        for parallel in (
            ("merge",) if len({edge[:2] for edge in edges}) < len(edges) else ("merge", "refuse", "reverse")
        ):
            with pytest.raises(InputError, match=rf"link {a}-{b}|link {b}-{a}") as caught:
                read_bytes(text.encode(), "net", "net", ReadOptions(parallel=parallel))
            assert "expected a cable with equal directions" in str(caught.value)
            assert len(re.findall(r"has capacity \d+ Gb/s", str(caught.value))) == 2


def test_a_loop_is_left_out_with_a_note(read: Read) -> None:
    loop = '<edge source="1" target="1"/>\n</graph>'
    with pytest.warns(NetlullWarning, match=r"line 26: link Graz-Graz: leads back to its own node and is left out$"):
        assert read(GRAPHML.replace("</graph>", loop)) == read(GRAPHML)
    with pytest.warns(NetlullWarning, match="line 16: link Wien-Wien: leads back to its own node"):
        assert len(read(NATIVE.replace("( Wien Graz )", "( Wien Wien )")).lines) == 2


@pytest.mark.parametrize(
    ("kind", "no", "yes"),
    [
        ("boolean", "false", "true"),
        ("boolean", " False ", " True "),
        ("int", "0", "1"),
        ("int", "-00", "01"),
        ("double", " 0.0", "1e0 "),
        ("string", "FALSE", "TRUE"),
    ],
)
def test_types_of_graphml_data(read: Read, kind: str, no: str, yes: str) -> None:
    text = GRAPHML.replace(">1</data>", f">{yes}</data>").replace(">0</data>", f">{no}</data>")
    text = re.sub(r'(attr.name="Internal" attr.type=)"\w+"', rf'\1"{kind}"', text)
    assert f'attr.name="Internal" attr.type="{kind}"' in text
    assert text.count(f">{no}</data>") == 1
    assert read(text) == read(GRAPHML)
    assert len(read(text, external="keep").nodes) == len(read(text).nodes) + 1


def test_defaults_of_graphml_keys_are_values_of_all_elements_without_them(read: Read) -> None:
    # The GraphML primer, "Declaring GraphML-Attributes".
    keys = """<key id="s" for="edge" attr.name="LinkSpeedRaw"><default>1000000000</default></key>
        <key id="x" for="node" attr.name="Longitude"><default> 16.37 </default></key>
        <key id="y" for="all" attr.name="Latitude"><default>48.21</default></key>"""
    nodes = '<node id="a"/><node id="b"><data key="x">15.44</data></node><node id="c"/>'
    edges = '<edge source="a" target="b"/><edge source="b" target="c"><data key="s">10000000000</data></edge>'
    made = read(f'<graphml>{keys}<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>')
    assert [line.capacity for line in made.lines] == ["1 Gb/s", "10 Gb/s"]
    assert [node.position for node in made.nodes] == [(16.37, 48.21), (15.44, 48.21), (16.37, 48.21)]


YED = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
<key for="node" id="d6" yfiles.type="nodegraphics"/><key for="edge" id="d10" yfiles.type="edgegraphics"/>
<graph edgedefault="directed" id="G">
<node id="n0" yfiles.foldertype="group"><data key="d6"><y:ProxyAutoBoundsNode><y:Realizers><y:GroupNode>
<y:NodeLabel>East</y:NodeLabel></y:GroupNode></y:Realizers></y:ProxyAutoBoundsNode></data>
<graph edgedefault="directed" id="n0:"><node id="n0::n0"><data key="d6"><y:ShapeNode>
<y:Geometry height="30" width="30" x="1" y="2"/><y:NodeLabel alignment="center">Wien<y:LabelModel/></y:NodeLabel>
</y:ShapeNode></data></node>
<node id="n0::n1"><data key="d6"><y:ShapeNode><y:NodeLabel>Graz</y:NodeLabel></y:ShapeNode></data></node>
<edge id="n0::e0" source="n0::n0" target="n0::n1"><data key="d10"><y:PolyLineEdge>
<y:EdgeLabel>2.5 Gb/s</y:EdgeLabel></y:PolyLineEdge></data></edge></graph></node>
<node id="n1"><data key="d6"><y:ImageNode><y:NodeLabel>Bern</y:NodeLabel></y:ImageNode></data></node>
<edge id="e0" source="n1" target="n0::n0"><data key="d10"><y:ArcEdge/></data></edge>
</graph></graphml>"""


def test_groups_and_labels_of_yed(read: Read) -> None:
    made = read(YED)
    assert [node.name for node in made.nodes] == ["Bern", "Wien", "Graz"]
    assert {(line.label, line.capacity) for line in made.lines} == {("Bern-Wien", None), ("Wien-Graz", "2.5 Gb/s")}


OTHERS = {
    "x.graph": "NODES 2\nlabel x y\nA 0 0\nB 1 1\n\nEDGES 1\nlabel src dest weight bw delay\ne0 0 1 1 1000 5\n",
    "a.brite": "Topology: ( 2 Nodes, 1 Edges )\nModel (1 - RTWaxman):  2 1000 100 1\n\nNodes: ( 2 )\n0 1 2 1 1 -1 RT\n",
    "weights.intra": "Vienna,+Austria Linz,+Austria 2.5\n",
    "r0.cch": "1 @Vienna,+Austria + bb (2) &0 -> <2> =r1 rn\n",
    "as-rel.txt": "# source\n1|2|-1\n2|3|0\n",
    "inet.txt": "2 1\n0 10 20\n1 30 40\n0 1 5\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_formats_are_told_which_formats_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(OTHERS[name], encoding="utf-8")
    with pytest.raises(
        InputError, match=r"is in no format of networks that netlull reads; expected SNDlib's .* GraphML"
    ):
        Topology.from_file(path)
    path = tmp_path / "net.toml"
    path.write_text(OTHERS[name], encoding="utf-8")
    with pytest.raises(InputError, match="is not TOML"):
        Topology.from_file(path)


def test_toml(read: Read) -> None:
    topology = read(TOML)
    assert (topology.name, topology.lines[0].distance_km, topology.lines[1].cost) == ("alps", 190.5, 3)
    assert topology.demands == (Demand("Wien", "Linz", "3.5805 Gb/s"),)
    assert read(topology.to_toml()) == topology


def test_parallel_links_are_merged_when_that_is_asked_for(read: Read) -> None:
    twice = NATIVE.replace("  L2 (", "  L9 ( Graz Wien ) 600.00 0.00 0.00 0.00 ( )\n  L2 (")
    with pytest.raises(InputError, match=r"line 17: link Graz-Wien \(600 Mb/s\): is another cable, or the reverse of"):
        read(twice)
    with pytest.raises(InputError, match=r'line 17: link Wien-Graz: is given twice; .* parallel = "merge"'):
        read(twice.replace("( Graz Wien )", "( Wien Graz )"))
    merged = read(twice, parallel="merge")
    assert len(merged.lines) == 3
    assert merged.lines[0].capacity == "3 Gb/s"  # 2400 + 600 Mb/s


def test_the_largest_piece(read: Read) -> None:
    apart = NATIVE.replace("  L2 ( Graz Linz ) 0", "  L2 ( Graz Wels ) 0").replace(
        "  L3 ( Linz Wien )", "  L3 ( Wels Wien )"
    )
    apart = apart.replace("  Linz (", "  Wels ( 14.02 48.15 )\n  Linz (")
    assert len(read(apart).pieces) == 2
    largest = read(apart, pieces="largest")
    assert [node.name for node in largest.nodes] == ["Wien", "Graz", "Wels"]
    assert largest.demands == ()  # it went to Linz


BOMB = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<graphml>&c;</graphml>
"""
FETCH = '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]><network>&x;</network>'
REMOTE = '<!DOCTYPE graphml SYSTEM "http://127.0.0.1:1/x.dtd"><graphml/>'
DEEP = "<graphml>" + "<a>" * 10_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; expected a topology"),
        (" \n", "is empty; expected a topology"),
        (b"\x00\x01\x02", "is not text"),
        (b"NODES (\n caf\xe9 ( 1 2 )\n)", "line 2: is not UTF-8 text"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "is not UTF-8 text"),
        (BOMB, "line 2: has a document type; expected XML without <!DOCTYPE>"),
        (FETCH, "line 1: has a document type"),
        (REMOTE, "line 1: has a document type"),
        ("<graphml>&nbsp;</graphml>", "line 1: is not XML: undefined entity"),
        (DEEP, "is nested too deeply; expected at most 32 elements"),
        ("a\n" * 400_001, "has more than 400,000 lines"),
        ("<graphml><graph>", "line 1: is not XML: no element found"),
        ("<svg></svg>", "line 1: <svg> is not a topology; expected <network> or <graphml>"),
        ("<graphml/>", "has no graph; expected <graphml><graph>"),
        (
            '<?xml version="1.0" encoding="x-none"?><graphml/>',
            "is in an encoding that cannot be read: unknown encoding: x-none; expected UTF-8",
        ),
        ("<network/>", "has no nodes; expected <networkStructure><nodes>"),
        ("a = " + "[" * 5000, "nested too deeply"),
        ("graph [\n  node [\n id 0 ]\n]", "is GML; expected SNDlib's native format or XML, GraphML, or TOML"),
        ("nonsense", "is in no format of networks that netlull reads"),
        ('duration = "1 s"\nnodes = ["a"]', "is a scenario; expected a topology"),
        ("[nodes]", "nodes: is {}; expected a table such as Vienna = [16.37, 48.21]"),
        (NATIVE.replace("type: network", "type: solution"), "line 1: "),
        (NATIVE.replace("NODES (", "NODE ("), 'line 10: "NODE (" opens no section; expected NODES ('),
        (NATIVE.replace("2400.00", "many"), 'line 16: value "many" is not a number of 0 or more'),
        (NATIVE.replace("2400.00", "-1"), 'line 16: value "-1" is not a number of 0 or more'),
        (
            NATIVE.replace("( Wien Graz )", "( Wien Rom )"),
            'line 16: link Wien-Rom: "Rom" is not a node; expected one of Graz, ',
        ),
        (NATIVE.replace("( Wien Graz )", "Wien Graz"), "is not a line of LINKS; expected ID ( SOURCE TARGET )"),
        (NATIVE.replace("Linz ( 14.29", "Graz ( 14.29"), 'line 13: node "Graz": is given twice'),
        (NATIVE.replace("14.29 48.31", "14.29 x"), 'line 13: node "Linz": "14.29 x" is not a place'),
        (NATIVE.partition("LINKS (")[0] + "LINKS (", "line 15: LINKS is not closed"),
        (NATIVE + "NODES (\n)\n", "NODES is given twice"),
        ("LINKS (\n)", "has no section NODES"),
        (NATIVE.replace("( Wien Linz )", "( Wien Rom )"), 'line 21: demand Wien-Rom: "Rom" is not a node'),
        (XML.replace("<target>Graz</target>", ""), 'line 11: <link id="L1"> has no <target>'),
        (XML.replace("<capacity>2400.0", "<capacity>x"), 'line 11: capacity "x" is not a number of 0 or more'),
        (XML.replace("<y>48.21</y>", "<y>north</y>"), 'line 6: node "Wien": "16.37 north" is not a place'),
        (GRAPHML.replace('target="1"', 'target="9"'), 'line 21: target "9": is not a node'),
        (GRAPHML.replace("2500000000.0", "fast"), 'line 21: LinkSpeedRaw "fast" is not a rate'),
        (GRAPHML.replace('node id="1"', 'node id="0"'), 'line 15: node id "0": is given twice'),
        (GRAPHML.replace("48.21", "north"), 'line 13: node "Wien": "16.37 north" is not a place'),
        (TOML.replace("capacity", "speed"), "link.0.speed: is unknown; expected one of from, to, name"),
        (TOML.replace("2.4 Gb/s", "2.4"), 'link.0: link Wien-Graz: capacity "2.4" is not a rate'),
        (TOML.replace("190.5 km", "190.5 m"), 'link.0.distance: "190.5 m" is not a distance'),
        (TOML.replace("[16.37, 48.21]", "[16.37]"), "nodes.Wien: [16.37] is not a place"),
        (TOML.replace("[16.37, 48.21]", "[16.37, 148.21]"), "latitude 148.21 is out of range"),
        (TOML.replace('to = "Graz"', "to = 3"), "link.0.to: is 3; expected text"),
        (TOML.replace('to = "Graz"\n', ""), "link.0.to: is missing"),
        (TOML.replace("cost = 3", "cost = 1.5"), "link.1.cost: is 1.5; expected a whole number of at least 1"),
        (NATIVE.replace("3580.50", "UNLIMITED"), "line 21: inf b/s is out of range; expected a rate below 10^18 b/s"),
        (NATIVE.replace("2400.00", "1e300"), "line 16: 1e+306 b/s is out of range"),
        (XML.replace("<x>15.44", "<x>15.\n44"), 'node "Graz": "15. 44 47.07" is not a place'),
        (GRAPHML.replace("2500000000.0", "1e9999999999"), 'line 21: LinkSpeedRaw "1e9999999999" is not a rate'),
        (GRAPHML.replace("2500000000.0", "1e300"), "line 21: 1e+300 b/s is out of range"),
        (TOML.replace("2.4 Gb/s", "1e999999999 Gb/s"), 'capacity "1e999999999 Gb/s" is not a rate'),
        (TOML.replace("2.4 Gb/s", "9" * 5000 + " Gb/s"), "is not a rate"),
        (NATIVE.replace("2400.00", "2400.00" + " " * 100_000 + "y ("), "is not a line of LINKS"),  # in no time
        (NATIVE.replace("14.29 48.31", "14.29 " + "," * 100_000 + "("), "is not a line of NODES"),
        (TOML.replace("16.37", "1" + "0" * 400), "nodes.Wien.0: "),
        (TOML.replace("cost = 3", "cost = " + "9" * 5000), "expected a whole number of 64 bits"),
        (TOML.replace("190.5 km", "1e999 km"), 'link.0.distance: "1e999 km" is not a distance'),
        (TOML.replace("[[link]]", "[[x.link]]"), "x: is unknown; expected one of name, "),
    ],
)
def test_bad_files(read: Read, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(content)
    told = str(caught.value)
    assert message in told
    assert "net" in told.partition(":")[0]
    assert "\n" not in told


@settings(max_examples=300)
@given(data=st.data(), text=st.sampled_from([NATIVE, XML, GRAPHML, TOML]))
def test_damaged_files_are_read_or_refused(data: st.DataObject, text: str) -> None:
    content = text.encode()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 200)))
        content = content[:start] + data.draw(st.binary(max_size=3)) + content[end:] + content[start:end][:20]
    refused = None
    try:
        topology = read_bytes(content, "net", "net", ReadOptions())
    except InputError as error:
        refused = str(error)
    assert topology.nodes if refused is None else re.fullmatch(r"net[:,] [^\n]*", refused)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(100_000_000)
    for path, message in (
        (large, f"is too large; expected at most {LARGEST_BYTES // 2**20} MiB"),
        (tmp_path, "is a folder"),
        (tmp_path / "none", "there is no such file"),
        (tmp_path / ("x" * 5000), "cannot be read"),
    ):
        with pytest.raises(InputError) as caught:
            Topology.from_file(path)
        assert message in str(caught.value)


def test_more_elements_than_any_network_has(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markup, "_MOST", 20)
    with pytest.raises(InputError, match="line 15: has more than 20 elements"):
        read(GRAPHML)


def test_options_that_are_none(read: Read) -> None:
    for options, message in (
        ({"parallel": "x"}, "parallel: 'x' is unknown; expected one of refuse, merge"),
        ({"format": "gml"}, "format: 'gml' is unknown; expected one of sndlib-native"),
        ({"unit": "km"}, "unit: 'km' is not a unit of rates"),
        ({"colour": "red"}, "colour: is not an option of reading a topology"),
        ({"unit": 3}, "unit: 3 is not text"),
    ):
        with pytest.raises(InputError) as caught:
            read(NATIVE, **options)
        assert message in str(caught.value)


def test_a_format_that_is_said_is_taken(read: Read) -> None:
    assert read(XML, format="sndlib-xml") == read(XML)
    with pytest.raises(InputError, match=r"line 2: <network> is no graph|has no graph"):
        read(XML, format="graphml")
    with pytest.raises(InputError, match="is not TOML"):
        read(NATIVE, format="toml")


def test_encodings(read: Read) -> None:
    latin = XML.replace("UTF-8", "ISO-8859-1").replace("Wien", "Köln").encode("latin-1")
    assert read(latin).nodes[0].name == "Köln"
    assert read(XML.replace("UTF-8", "UTF-16").encode("utf-16")) == read(XML)
    assert read(b"\xef\xbb\xbf" + NATIVE.replace("\n", "\r\n").encode()) == read(NATIVE)


def test_the_hub() -> None:
    topology = Topology.from_hub("sndlib/abilene")
    ours = Topology.from_file(SHIPPED / "scenarios" / "topologies" / "abilene.toml")
    assert set(topology.index) == set(ours.index)
    assert {line.ends for line in topology.lines} == {line.ends for line in ours.lines}
    for line in topology.lines:
        # It gives places to 0.01 degrees, 1.1 km.
        given = next(one for one in ours.lines if one.ends == line.ends)
        assert topology.length_km(line) == pytest.approx(ours.length_km(given), abs=2)
    # Pixels, for which it nevertheless gives "distances".
    assert all(node.position is None for node in Topology.from_hub("sndlib/france").nodes)
    assert Topology.from_hub("sndlib/france").lines[0].distance_km is None
    for key in ("sndlib/nowhere", "../x", "sndlib/../../x", "nothing", "/etc/passwd"):
        with pytest.raises(InputError, match="topohub has no"):
            Topology.from_hub(key)


def test_a_run_s_folder_does_not_hide_a_topology_that_comes_with_netlull(
    tmp_path: Path, printed: Callable[..., str], refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("abilene").mkdir()
    Path("alps").mkdir()
    assert "abilene: 3 of 15 links sleep" in printed("plan", "abilene", "--estop", "0.7")
    assert "alps: is a folder" in refused("plan", "alps", "--estop", "0.7")
    Path("abilene.toml").write_text("[nodes]\nA = []\n")
    assert "1 nodes, 0 links" in printed("topology", "abilene.toml")  # a file does


def test_the_command_shows_and_converts(
    tmp_path: Path, printed: Callable[..., str], refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.txt").write_text(NATIVE)
    told = printed("topology", "net.txt", "--to", "net.toml", "--scenario", "run.toml")
    assert "3 nodes, 3 links, degrees 2 / 2 / 2 (least, mean, largest)" in told
    assert "diameter 1 hops, algebraic connectivity 3" in told  # a triangle: eigenvalues 0, 3, 3
    assert Topology.from_file("net.toml") == Topology.from_file("net.txt").__class__(
        "net", *(getattr(Topology.from_file("net.txt"), part) for part in ("nodes", "lines", "demands"))
    )
    made = tomllib.loads(Path("run.toml").read_text())
    assert made["topology"]["file"] == "net.txt"
    assert made["topology"]["default_rate"] == "10 Gb/s"  # L3 has none
    told = json.loads(printed("run", "run.toml", "--set", "duration=1 s", "--json"))
    assert {link["name"] for link in told["links"]} >= {"Wien-Graz", "Linz-Wien", "Wien-Linz"}
    facts = json.loads(printed("topology", "abilene", "--json"))
    assert (facts["nodes"], facts["links"], facts["diameter_hops"]) == (12, 15, 5)
    assert "net.json: expected a name that ends in .toml" in refused("topology", "net.txt", "--to", "net.json")
    same = refused("topology", "net.txt", "--to", "both.toml", "--scenario", "./both.toml")
    assert "--scenario both.toml: is the file of --to; expected another file" in same
    assert not Path("both.toml").exists()
    assert "--parallel: 'x' is unknown" in refused("topology", "net.txt", "--parallel", "x")
    assert not Path("net.json").exists()


def test_a_network_too_large_for_a_picture_is_refused_before_it_is_laid_out() -> None:
    names = [f"n{number}" for number in range(20_000)]
    large = Topology("large", [Node(name) for name in names], [Line(a, b) for a, b in pairwise(names)])
    with pytest.raises(InputError, match="large: has 20,000 nodes; expected at most 2,000 nodes in a picture"):
        network_map(large)
    assert large.diameter is None


def test_a_scenario_that_would_be_refused_is_not_written(tmp_path: Path, refused: Callable[..., str]) -> None:
    topology = tmp_path / "far.toml"
    topology.write_text('[nodes]\na = []\nb = []\n[[link]]\nfrom = "a"\nto = "b"\ncapacity = "100 b/s"\n')
    out = tmp_path / "run.toml"
    assert "rate_scale" in refused("topology", topology, "--scenario", out)
    assert not out.exists()
