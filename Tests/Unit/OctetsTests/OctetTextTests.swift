import Octets
import Testing

/// `é` as one scalar and as two: canonically equivalent, different octets.
private let composed = "a\u{e9}"
private let decomposed = "ae\u{301}"

@Suite("Texts compare by octets")
struct OctetTextTests {
    private struct Device: Hashable { let text: String }

    @Test func operatorsTellFormsOfUnicodeApart() {
        #expect(!sameOctets(composed, decomposed))
        let same = composed == decomposed
        let different = composed != decomposed
        #expect(!same && different)
        let known: String? = composed
        let optional = known == decomposed
        #expect(!optional)
        let lists = [composed] == [decomposed]
        #expect(!lists)
        #expect(![composed].contains(decomposed))
        #expect([composed, decomposed].firstIndex(of: decomposed) == 1)
        #expect(!decomposed.hasPrefix(composed) && !decomposed.hasSuffix(String(composed.dropFirst())))
    }

    @Test func patternsTellFormsOfUnicodeApart() {
        let found =
            switch composed {
            case "ae\u{301}": "decomposed"
            case "a\u{e9}": "composed"
            default: "neither"
            }
        #expect(found.utf8.elementsEqual("composed".utf8))
    }

    @Test func keysAndMembersTellFormsOfUnicodeApart() {
        var sessions: [OctetText: Int] = [:]
        sessions[composed] = 1
        sessions[decomposed, default: 0] += 2
        #expect(sessions[composed] == 1 && sessions[decomposed] == 2)
        #expect(Set<OctetText>(texts: [composed, decomposed, composed]).count == 2)
    }

    @Test func derivedEqualityTellsFormsOfUnicodeApart() {
        #expect(Device(text: composed) != Device(text: decomposed))
        #expect(Set([Device(text: composed), Device(text: decomposed)]).count == 2)
    }

    @Test(arguments: [
        ("", "", true), ("a", "", false), ("a", "b", false), ("same", "same", true),
        ("Same text of more than fifteen octets", "Same text of more than fifteen octets", true),
    ])
    func plainTextsCompareAsEver(left: String, right: String, equal: Bool) {
        #expect(sameOctets(left, right) == equal)
    }

    @Test func ordersByOctets() {
        #expect(["z", "\u{e9}", "e\u{301}"].sorted() == ["e\u{301}", "z", "\u{e9}"])
        #expect(OctetText("a") < OctetText("b"))
    }
}
