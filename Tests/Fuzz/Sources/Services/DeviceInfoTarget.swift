internal import Contracts
internal import Cryptography
internal import Faults
@testable internal import GatewayPublicApi

/// `X-Device-Info`: the three ways of reading agree where all accept, and no text of a stranger leaves its bounds.
///
/// The first byte chooses: the text as it is, or the JSON in one of three encodings. The User-Agent follows up to a zero byte, then the text.
enum DeviceInfoTarget {
    private static let longest = 4096
    private static let longestText = 512

    @Sendable static func run(_ input: inout Input) {
        let choice = input.byte()
        let userAgent = String(decoding: input.part(), as: UTF8.self)
        let bytes = input.remainder()
        let header = encoded(bytes, choice)
        let lenient = DeviceInformation.lenient(header, userAgent: userAgent)
        checkBounds(lenient, userAgent)
        check(lenient == DeviceInformation.lenient(header, userAgent: userAgent), "a second reading differs")
        let strict = try? DeviceInformation.strict(header, userAgent: userAgent)
        let tolerant = try? DeviceInformation.tolerant(header, userAgent: userAgent)
        if let strict {
            noteTaken()
            check(header.utf8.count <= longest && !strict.model.isEmpty && !strict.osName.isEmpty, "incomplete device information was accepted")
            check(strict == lenient && tolerant == strict, "the ways of reading disagree")
        }
        if let tolerant { check(tolerant == lenient && header.utf8.count <= longest, "the ways of reading disagree") }
        guard choice & 3 != 0 else { return }
        for other in 1...3 {
            let other = encoded(bytes, UInt8(other))
            guard max(other.utf8.count, header.utf8.count) <= longest else { continue }
            check(DeviceInformation.lenient(other, userAgent: userAgent) == lenient, "an encoding changes the meaning")
        }
    }

    private static func encoded(_ bytes: [UInt8], _ choice: UInt8) -> String {
        switch choice & 3 {
        case 0: String(decoding: bytes, as: UTF8.self)
        case 1: Base64.standard.encode(bytes)
        case 2: Base64.url.encode(bytes)
        default: Base64.standard.encode(bytes).utf8.map { $0 == 0x2b ? "%2B" : $0 == 0x2f ? "%2f" : String(UnicodeScalar($0)) }.joined()
        }
    }

    private static func checkBounds(_ device: DeviceInformation, _ userAgent: String) {
        check(!device.type.isEmpty, "a device without a type")
        for (key, field) in DeviceField.all {
            let text = device[keyPath: field]
            guard key != "userAgent" || text != userAgent else { continue }
            check(text.unicodeScalars.count <= longestText && !text.unicodeScalars.contains(where: isControl), "a text leaves its bounds")
            if let accepted = DeviceField.restricted[key] {
                check(text.isEmpty || text == "Unknown" || accepted.contains(text) || isDerived(text), "an unknown word")
            }
        }
        check(["", "true", "false"].contains(device.connectionSecure), "a flag that is none")
    }

    /// Words that only the rules for the User-Agent write.
    private static func isDerived(_ text: String) -> Bool { ["Unknown", ""].contains(text) }
}
