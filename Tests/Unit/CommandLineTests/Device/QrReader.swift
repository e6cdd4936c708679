@testable import CommandKit

/// Reads an undamaged QR code of half blocks (ISO/IEC 18004), as a camera would: so that a test knows what a phone sees.
enum QrReader {
    /// Data codewords of each block by version, level M, versions 1 to 10 (ISO/IEC 18004 table 9).
    private static let blocks: [[Int]] = [
        [16], [28], [44], [32, 32], [43, 43], [27, 27, 27, 27], [31, 31, 31, 31], [38, 38, 39, 39], [36, 36, 36, 37, 37], [43, 43, 43, 43, 44],
    ]
    /// Centres of the alignment patterns by version (annex E).
    private static let alignments: [[Int]] = [
        [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50],
    ]

    /// - Returns: The text; `nil` for what is no such code.
    static func text(of lines: [String]) -> String? {
        let modules = modules(lines)
        let size = modules.count
        guard size >= 21, (size - 17) % 4 == 0, case let version = (size - 17) / 4, (1...10).contains(version) else { return nil }
        // The format: five bits, masked with 10101; here level M is 00 and three bits of the mask follow.
        let format = (0..<5).reduce(0) { $0 << 1 | (modules[8][$1] ? 1 : 0) } ^ 0b10101
        guard format >> 3 == 0 else { return nil }
        let bits = bits(modules, version, mask: format & 7)
        let codewords = stride(from: 0, to: bits.count - 7, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        return content(separated(codewords, blocks[version - 1]), version)
    }

    /// True: dark. Without the quiet zone.
    private static func modules(_ lines: [String]) -> [[Bool]] {
        var rows: [[Bool]] = []
        for line in lines {
            rows.append(line.map { $0 == " " || $0 == "▄" })
            rows.append(line.map { $0 == " " || $0 == "▀" })
        }
        guard let top = rows.firstIndex(where: { $0.contains(true) }), let left = rows[top].firstIndex(of: true),
            let right = rows[top].lastIndex(of: true)
        else { return [] }
        let size = right - left + 1
        return rows.dropFirst(top).prefix(size).map { Array($0[left...right]) }
    }

    private static func bits(_ modules: [[Bool]], _ version: Int, mask: Int) -> [Bool] {
        let size = modules.count
        var (bits, column, isUp) = ([Bool](), size - 1, true)
        while column > 0 {
            if column == 6 { column -= 1 }
            for step in 0..<size {
                let row = isUp ? size - 1 - step : step
                for x in [column, column - 1] where !isFunction(row, x, version, size) {
                    bits.append(modules[row][x] != isMasked(row, x, mask))
                }
            }
            (column, isUp) = (column - 2, !isUp)
        }
        return bits
    }

    private static func isFunction(_ row: Int, _ column: Int, _ version: Int, _ size: Int) -> Bool {
        if row == 6 || column == 6 { return true }
        if row < 9, column < 9 || column >= size - 8 { return true }
        if row >= size - 8, column < 9 { return true }
        if version >= 7, row < 6 && column >= size - 11 || column < 6 && row >= size - 11 { return true }
        let centres = alignments[version - 1]
        guard let last = centres.last else { return false }
        return centres.contains { y in
            centres.contains { x in
                let isAtFinder = (y == 6 && (x == 6 || x == last)) || (y == last && x == 6)
                return !isAtFinder && abs(row - y) <= 2 && abs(column - x) <= 2
            }
        }
    }

    private static func isMasked(_ row: Int, _ column: Int, _ mask: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }

    /// Undoes the interleaving of the blocks.
    private static func separated(_ codewords: [UInt8], _ lengths: [Int]) -> [UInt8] {
        var (blocks, next) = (lengths.map { _ in [UInt8]() }, 0)
        for index in 0..<(lengths.max() ?? 0) {
            for (block, length) in lengths.enumerated() where index < length {
                blocks[block].append(codewords[next])
                next += 1
            }
        }
        return blocks.flatMap { $0 }
    }

    /// Segments of digits, of capitals and of bytes, until the end.
    private static func content(_ bytes: [UInt8], _ version: Int) -> String? {
        var reader = BitReader(bytes: bytes)
        let isLarge = version >= 10
        var text: [UInt8] = []
        while let mode = reader.read(4), mode != 0 {
            switch mode {
            case 0b0001:
                guard let count = reader.read(isLarge ? 12 : 10), let digits = digits(count, &reader) else { return nil }
                text += digits
            case 0b0010:
                guard let count = reader.read(isLarge ? 11 : 9), let letters = letters(count, &reader) else { return nil }
                text += letters
            case 0b0100:
                guard let count = reader.read(isLarge ? 16 : 8) else { return nil }
                for _ in 0..<count {
                    guard let byte = reader.read(8) else { return nil }
                    text.append(UInt8(byte))
                }
            default: return nil
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digits(_ count: Int, _ reader: inout BitReader) -> [UInt8]? {
        var text: [UInt8] = []
        var rest = count
        while rest > 0 {
            let length = min(3, rest)
            guard let number = reader.read([4, 7, 10][length - 1]) else { return nil }
            let digits = "\(number)"
            text += Array((String(repeating: "0", count: max(0, length - digits.count)) + digits).utf8)
            rest -= length
        }
        return text
    }

    private static func letters(_ count: Int, _ reader: inout BitReader) -> [UInt8]? {
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)
        var text: [UInt8] = []
        var rest = count
        while rest > 0 {
            guard let number = reader.read(rest > 1 ? 11 : 6), number < (rest > 1 ? 2025 : 45) else { return nil }
            text += rest > 1 ? [alphabet[number / 45], alphabet[number % 45]] : [alphabet[number]]
            rest -= min(2, rest)
        }
        return text
    }
}

private struct BitReader {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Returns: `nil` behind the end.
    mutating func read(_ length: Int) -> Int? {
        guard position + length <= bytes.count * 8 else { return nil }
        var value = 0
        for index in position..<position + length {
            let byte = Int(bytes[index / 8])
            value = value << 1 | (byte >> (7 - index % 8)) & 1
        }
        position += length
        return value
    }
}
