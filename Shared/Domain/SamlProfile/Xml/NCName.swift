/// XML names without a colon, the form of every ID (Namespaces in XML 1.0 §3).
enum NCName {
    static func matches(_ text: String) -> Bool {
        if text.utf8.allSatisfy(isPlain), let first = text.utf8.first { return !isDigitOrSign(first) }
        guard let first = text.unicodeScalars.first, starts(first) else { return false }
        return text.unicodeScalars.dropFirst().allSatisfy(continues)
    }

    /// Letters, digits, `_`, `-` and `.`: what most IDs consist of.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x5F: true
        default: isDigitOrSign(byte)
        }
    }

    private static func isDigitOrSign(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x2D, 0x2E, 0x30...0x39: true
        default: false
        }
    }

    private static func starts(_ character: Unicode.Scalar) -> Bool {
        switch character.value {
        case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF, 0x200C...0x200D,
            0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x10000...0xEFFFF:
            true
        default: false
        }
    }

    private static func continues(_ character: Unicode.Scalar) -> Bool {
        switch character.value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: starts(character)
        }
    }
}
