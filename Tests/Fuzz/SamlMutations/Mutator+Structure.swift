import Foundation

/// Changes of elements, and the forgeries of an attacker who holds one genuine message.
extension Mutator {
    mutating func repeatedElement() -> [UInt8] {
        let element = element()
        let copy = Array(text[element.whole])
        return inserting(copy, at: Bool.random(using: &random) ? element.whole.upperBound : boundary())
    }

    mutating func movedElement() -> [UInt8] {
        let element = element()
        let target = boundary()
        let moved = Array(text[element.whole])
        guard !(element.whole.lowerBound + 1..<element.whole.upperBound).contains(target) else { return replacing(element.whole, with: []) }
        if target <= element.whole.lowerBound {
            return Array(text[..<target]) + moved + text[target..<element.whole.lowerBound] + text[element.whole.upperBound...]
        }
        return Array(text[..<element.whole.lowerBound]) + text[element.whole.upperBound..<target] + moved + text[target...]
    }

    mutating func swappedElements() -> [UInt8] {
        let (one, other) = (element().whole, element().whole)
        guard one.upperBound <= other.lowerBound || other.upperBound <= one.lowerBound else { return replacing(one, with: []) }
        let (first, second) = one.lowerBound < other.lowerBound ? (one, other) : (other, one)
        return Array(text[..<first.lowerBound]) + text[second] + text[first.upperBound..<second.lowerBound] + text[first]
            + text[second.upperBound...]
    }

    mutating func wrappedElement() -> [UInt8] {
        let range = element().whole
        let (open, close) = pick(Vocabulary.shells)
        return replacing(range, with: Array(open.utf8) + text[range] + Array(close.utf8))
    }

    mutating func renamedElement() -> [UInt8] {
        let element = element()
        let name = pick(Vocabulary.elementNames)
        guard element.whole.upperBound > element.startTag.upperBound else { return replacing(element.name, with: name) }
        return Array(text[..<element.name.lowerBound]) + name + text[element.name.upperBound..<element.content.upperBound] + Array("</".utf8) + name
            + Array(">".utf8) + text[element.whole.upperBound...]
    }

    mutating func algorithm() -> [UInt8] {
        let algorithms = map.attributes.filter { text[$0.name].elementsEqual("Algorithm".utf8) }
        return algorithms.isEmpty ? octet() : replacing(pick(algorithms).value, with: pick(Vocabulary.algorithms))
    }

    mutating func signature() -> [UInt8] {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return named("ds:SignatureValue").map { replacing($0.content, with: pick(["", "AA==", "AAAA", "!", " "])) } ?? octet()
        case 1:
            return named("ds:DigestValue").map { replacing($0.content, with: pick(["", "AA==", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="])) }
                ?? octet()
        case 2:
            guard let uri = named("ds:Reference")?.attributes.first(where: { text[$0.name].elementsEqual("URI".utf8) }) else { return octet() }
            return replacing(uri.value, with: pick(Vocabulary.references))
        case 3:
            return named("ds:Signature").map { inserting(pick(Vocabulary.signatureParts), at: pick([$0.content.lowerBound, $0.content.upperBound])) }
                ?? octet()
        default:
            return named("ds:Transforms").map { inserting(pick(Vocabulary.transforms), at: pick([$0.content.lowerBound, $0.content.upperBound])) }
                ?? octet()
        }
    }

    /// A copy of the assertion about someone else, with or without signature and another ID, anywhere.
    mutating func forgedAssertion() -> [UInt8] {
        guard let assertion = named("saml:Assertion") else { return octet() }
        return inserting(forged(Array(text[assertion.whole])), at: boundary())
    }

    /// A copy of the response about someone else around, before or inside the genuine one.
    mutating func forgedResponse() -> [UInt8] {
        let forged = forged(text)
        let inner = MarkupMap(forged)
        guard let place = inner.elements.indices.randomElement(using: &random).map({ inner.elements[$0].content.lowerBound }) else { return text }
        return Array(forged[..<place]) + text + forged[place...]
    }

    private mutating func forged(_ original: [UInt8]) -> [UInt8] {
        var copy = String(decoding: original, as: UTF8.self).replacing("k3Yq-0091", with: "attacker")
        if Bool.random(using: &random) { copy = copy.replacing("ID=\"_", with: "ID=\"_x") }
        if Bool.random(using: &random), let start = copy.range(of: "<ds:Signature ")?.lowerBound,
            let end = copy.range(of: "</ds:Signature>")?.upperBound
        {
            copy.removeSubrange(start..<end)
        }
        return Array(copy.utf8)
    }

    private func named(_ name: String) -> MarkupMap.Element? {
        map.elements.first { text[$0.name].elementsEqual(name.utf8) }
    }
}
