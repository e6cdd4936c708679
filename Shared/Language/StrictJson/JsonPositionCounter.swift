internal import Octets

/// Finds positions in a text; those that are asked for in the order of the text cost one pass together.
struct JsonPositionCounter {
    private let text: [UInt8]
    private var reached = 0
    private var line = 1
    private var column = 1

    init(_ text: [UInt8]) { self.text = text }

    mutating func position(of offset: Int) -> JsonPosition {
        if offset < reached { (reached, line, column) = (0, 1, 1) }
        for byte in text[reached..<max(reached, min(offset, text.count))] {
            if byte == 0x0a {
                line += 1
                column = 1
            } else if byte & 0xc0 != 0x80 {
                column += 1
            }
        }
        reached = max(reached, min(offset, text.count))
        return JsonPosition(line: line, column: column)
    }
}
