/// Where the elements and attributes of a genuine message are. Only for text that this program made itself: it has no comments or CDATA.
struct MarkupMap {
    struct Attribute {
        /// From the white space before the name to the closing quote.
        let whole: Range<Int>
        let name: Range<Int>
        let value: Range<Int>
    }

    struct Element {
        var whole: Range<Int>
        let startTag: Range<Int>
        let name: Range<Int>
        var content: Range<Int>
        let attributes: [Attribute]
        let depth: Int
    }

    private(set) var elements: [Element] = []

    init(_ text: [UInt8]) {
        var open: [Int] = []
        var at = 0
        while at < text.count {
            guard text[at] == UInt8(ascii: "<") else {
                at += 1
                continue
            }
            let end = (text[at...].firstIndex(of: UInt8(ascii: ">")) ?? text.count - 1) + 1
            if text[at + 1] == UInt8(ascii: "/") {
                if let index = open.popLast() {
                    elements[index].content = elements[index].content.lowerBound..<at
                    elements[index].whole = elements[index].whole.lowerBound..<end
                }
            } else {
                let isEmpty = text[end - 2] == UInt8(ascii: "/")
                let name = at + 1..<(text[at..<end].firstIndex { $0 == 0x20 || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ">") } ?? end)
                elements.append(
                    Element(
                        whole: at..<end, startTag: at..<end, name: name, content: end..<end,
                        attributes: Self.attributes(text, name.upperBound..<end), depth: open.count))
                if !isEmpty { open.append(elements.count - 1) }
            }
            at = end
        }
    }

    var attributes: [Attribute] { elements.flatMap(\.attributes) }

    private static func attributes(_ text: [UInt8], _ range: Range<Int>) -> [Attribute] {
        var found: [Attribute] = []
        var at = range.lowerBound
        while let equals = text[at..<range.upperBound].firstIndex(of: UInt8(ascii: "=")) {
            let start = text[at..<equals].lastIndex { $0 == 0x20 || $0 == 0x0A } ?? at
            guard let close = text[(equals + 2)..<range.upperBound].firstIndex(of: text[equals + 1]) else { break }
            found.append(Attribute(whole: start..<close + 1, name: start + 1..<equals, value: equals + 2..<close))
            at = close + 1
        }
        return found
    }
}
