import Foundation

/// The kinds of change, each made at one place.
enum Mutation: String, CaseIterable, Sendable {
    case octet, removedOctets, insertedOctets
    case removedElement, repeatedElement, movedElement, swappedElements, wrappedElement, emptiedElement, renamedElement
    case removedAttribute, repeatedAttribute, changedAttribute, renamedAttribute
    case text, splitText, whiteSpace, markup, document
    case namespace, algorithm, signature, forgedAssertion, forgedResponse
    case base64
}

/// Makes one mutant of a genuine message.
struct Mutator {
    let text: [UInt8]
    let map: MarkupMap
    var random: SplitMix

    /// The value of the SAMLResponse field.
    mutating func mutant(_ mutation: Mutation) -> String {
        guard mutation != .base64 else { return base64() }
        return Data(changed(mutation)).base64EncodedString()
    }

    private mutating func changed(_ mutation: Mutation) -> [UInt8] {
        switch mutation {
        case .octet: octet()
        case .removedOctets: replacing(span(), with: [])
        case .insertedOctets: inserting(Array(text[span()]), at: place())
        case .removedElement: replacing(element().whole, with: [])
        case .repeatedElement: repeatedElement()
        case .movedElement: movedElement()
        case .swappedElements: swappedElements()
        case .wrappedElement: wrappedElement()
        case .emptiedElement: replacing(element().content, with: [])
        case .renamedElement: renamedElement()
        case .removedAttribute: attribute().map { replacing($0.whole, with: []) } ?? octet()
        case .repeatedAttribute: attribute().map { inserting(Array(text[$0.whole]), at: $0.whole.upperBound) } ?? octet()
        case .changedAttribute: attribute().map { replacing($0.value, with: value()) } ?? octet()
        case .renamedAttribute: attribute().map { replacing($0.name, with: pick(Vocabulary.attributeNames)) } ?? octet()
        case .text: replacing(leaf().content, with: value())
        case .splitText: splitText()
        case .whiteSpace: inserting(pick(Vocabulary.whiteSpace), at: place())
        case .markup: inserting(pick(Vocabulary.markup), at: boundary())
        case .document: document()
        case .namespace: namespace()
        case .algorithm: algorithm()
        case .signature: signature()
        case .forgedAssertion: forgedAssertion()
        case .forgedResponse: forgedResponse()
        case .base64: text
        }
    }

    // MARK: Places

    mutating func pick<Item>(_ items: [Item]) -> Item { items[Int.random(in: 0..<items.count, using: &random)] }
    mutating func pick(_ words: [String]) -> [UInt8] { Array(words[Int.random(in: 0..<words.count, using: &random)].utf8) }
    mutating func place() -> Int { Int.random(in: 0...text.count, using: &random) }
    mutating func element() -> MarkupMap.Element { pick(map.elements) }
    mutating func leaf() -> MarkupMap.Element {
        let leaves = map.elements.filter { !$0.content.isEmpty && text[$0.content.lowerBound] != UInt8(ascii: "<") }
        return pick(leaves)
    }

    mutating func attribute() -> MarkupMap.Attribute? {
        let attributes = element().attributes
        return attributes.isEmpty ? map.attributes.first : pick(attributes)
    }

    /// Before or behind a tag.
    mutating func boundary() -> Int {
        let element = element()
        return pick([element.whole.lowerBound, element.whole.upperBound, element.content.lowerBound, element.content.upperBound])
    }

    mutating func span() -> Range<Int> {
        let start = Int.random(in: 0..<text.count, using: &random)
        return start..<min(text.count, start + Int.random(in: 1...48, using: &random))
    }

    /// A word of the vocabulary, or what stands elsewhere in the message.
    mutating func value() -> [UInt8] {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: pick(Vocabulary.values)
        case 1: Array(text[pick(map.attributes).value])
        default: Array(text[leaf().content])
        }
    }

    func replacing(_ range: Range<Int>, with octets: [UInt8]) -> [UInt8] {
        Array(text[..<range.lowerBound]) + octets + text[range.upperBound...]
    }

    func inserting(_ octets: [UInt8], at place: Int) -> [UInt8] { replacing(place..<place, with: octets) }
}
