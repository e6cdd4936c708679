import Foundation

/// Changes of octets, texts and the encoding.
extension Mutator {
    mutating func octet() -> [UInt8] {
        var octets = text
        let at = Int.random(in: 0..<octets.count, using: &random)
        octets[at] = Bool.random(using: &random) ? octets[at] ^ (1 << UInt8.random(in: 0...7, using: &random)) : .random(in: 0...255, using: &random)
        return octets
    }

    /// A comment, CDATA section, processing instruction, reference or element inside a text.
    mutating func splitText() -> [UInt8] {
        let content = leaf().content
        let at = Int.random(in: content, using: &random)
        let piece = pick(Vocabulary.splinters)
        // Sometimes around the rest of the text, so that a reader who skips it sees a shorter value.
        guard Bool.random(using: &random) else { return inserting(piece, at: at) }
        let rest = Array(text[at..<content.upperBound])
        let (open, close) = pick(Vocabulary.wrappings)
        return replacing(at..<content.upperBound, with: Array(open.utf8) + rest + Array(close.utf8))
    }

    mutating func document() -> [UInt8] {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return inserting(pick(Vocabulary.prologues), at: 0)
        case 1: return text + pick(Vocabulary.trailers)
        case 2: return text + text
        default: return Array(text[..<Int.random(in: 0..<text.count, using: &random)])
        }
    }

    mutating func namespace() -> [UInt8] {
        let declarations = map.attributes.filter { text[$0.name].starts(with: "xmlns".utf8) }
        guard !declarations.isEmpty else { return octet() }
        let declaration = pick(declarations)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return replacing(declaration.value, with: pick(Vocabulary.namespaces))
        case 1: return replacing(declaration.whole, with: [])
        case 2: return replacing(declaration.name, with: pick(["xmlns", "xmlns:x", "xmlns:saml", "xmlns:samlp", "xmlns:ds", "xmlns:xml"]))
        default:
            let tag = element().name.upperBound
            return inserting(pick(Vocabulary.declarations), at: tag)
        }
    }

    mutating func base64() -> String {
        var encoded = Array(Data(text).base64EncodedData())
        let at = Int.random(in: 0..<encoded.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: encoded[at] = UInt8.random(in: 0x20...0x7E, using: &random)
        case 1: encoded.insert(pick([0x20, 0x0A, 0x0D, 0x3D, 0x2D, 0x5F, 0x25] as [UInt8]), at: at)
        case 2: encoded.remove(at: at)
        case 3: encoded += Array(pick(["=", "==", "A", "AAAA", " ", "\n", "====", "%3D"]))
        case 4: encoded.swapAt(at, Int.random(in: 0..<encoded.count, using: &random))
        default: encoded = encoded.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
