internal import Contracts
internal import Cryptography
internal import Faults
internal import FoundationEssentials
internal import Memos
internal import StrictJson
internal import TextEncodings

extension DeviceInformation {
    /// The device's own information, which goes before its User-Agent (rest-v1 §2.4).
    /// - Parameter encoded: Header or parameter as it came; `nil` when there is none.
    /// - Throws: `invalid_device_info` when it is absent, cannot be decoded, or names no model or operating system.
    static func strict(_ encoded: String?, userAgent: String) throws(Fault) -> DeviceInformation {
        guard let encoded, !encoded.isEmpty else { throw Fault(.invalidDeviceInformation, "Required 'X-Device-Info' is not present") }
        try requireShort(encoded)
        let reading = reading(encoded, userAgent)
        guard reading.isDecodable else { throw Fault(.invalidDeviceInformation, "The device information cannot be decoded.") }
        guard reading.namesModelAndSystem else {
            throw Fault(.invalidDeviceInformation, "The device information lacks 'model' or 'osName'.")
        }
        return reading.device
    }

    /// As `strict`, but never refuses: what is missing or undecodable comes from the User-Agent.
    static func lenient(_ encoded: String?, userAgent: String) -> DeviceInformation {
        reading(encoded ?? "", userAgent).device
    }

    /// The information of a device that says nothing of itself but, perhaps, its kind (clients §1.1).
    static func derived(deviceType: String, userAgent: String) -> DeviceInformation {
        var device = reading("", userAgent).device
        if let kind = DeviceKind(deviceType) { device.take(kind) }
        return device
    }

    private mutating func take(_ kind: DeviceKind) {
        (type, model, osName, osFamily) = (kind.type, kind.model, kind.osName, kind.osFamily)
    }

    /// As `lenient`, but refuses what is no Base64 (rest-v2 §1.3).
    /// - Throws: `invalid_device_info`.
    static func tolerant(_ encoded: String?, userAgent: String) throws(Fault) -> DeviceInformation {
        try requireShort(encoded ?? "")
        let reading = reading(encoded ?? "", userAgent)
        guard reading.isDecodable || base64(encoded ?? "") != nil else {
            throw Fault(.invalidDeviceInformation, "'X-Device-Info' must be the Base64 of a JSON object")
        }
        return reading.device
    }

    /// Longest encoded device information, in octets: real ones have a few hundred.
    private static let longest = 4096

    private static func requireShort(_ encoded: String) throws(Fault) {
        guard encoded.utf8.count <= longest else {
            throw Fault(.invalidDeviceInformation, "The device information has more than \(longest) octets.")
        }
    }

    /// The reading of a device's texts.
    private struct Reading: Sendable {
        let device: DeviceInformation
        let isDecodable: Bool
        let namesModelAndSystem: Bool
    }

    private struct Texts: Hashable {
        let encoded: String
        let userAgent: String
    }

    /// Models are few, and each device sends the same texts with every request.
    private static let readings = Memo<Texts, Reading>(capacity: 4096)
    /// Longer texts, in bytes, are read each time: they must not fill the memory.
    private static let longestRemembered = 2048

    private static func reading(_ encoded: String, _ userAgent: String) -> Reading {
        guard encoded.utf8.count + userAgent.utf8.count <= longestRemembered else { return read(encoded, userAgent) }
        return readings.value(Texts(encoded: encoded, userAgent: userAgent)) { read(encoded, userAgent) }
    }

    private static func read(_ encoded: String, _ userAgent: String) -> Reading {
        let object = decode(encoded)
        // A required member must be a text: a number names no system.
        let isComplete = ["model", "osName"].allSatisfy { name in object?[name].map { $0.isText && $0.text?.isEmpty == false } ?? false }
        return Reading(device: merged(object.map(texts) ?? [:], userAgent: userAgent), isDecodable: object != nil, namesModelAndSystem: isComplete)
    }

    private static func merged(_ values: [OctetText: String], userAgent: String) -> DeviceInformation {
        var device = UserAgentRule.device(userAgent)
        device.userAgent = userAgent
        for (key, field) in DeviceField.all {
            guard let value = values[key], !value.isEmpty else { continue }
            device[keyPath: field] = DeviceField.normalized(value, key: key)
        }
        if device.type.isEmpty { device.type = "Unknown" }
        return device
    }

    /// Reads strict JSON (RFC 8259) with two exceptions. A text with forbidden content costs only the member that holds it, and a mark at the start
    /// says nothing (§8.1). When members are doubled, the last counts.
    private static func decode(_ encoded: String) -> [OctetText: Scalar]? {
        guard let bytes = base64(encoded) else { return nil }
        let json = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : Array(bytes)
        guard let document = try? JsonDocument(parsing: json, dropsFlawedTexts: true), case .object(let members) = document.root.content else {
            return nil
        }
        return Dictionary(members.map { (OctetText($0.name), Scalar($0.value.content)) }) { _, last in last }
    }

    private static func texts(_ object: [OctetText: Scalar]) -> [OctetText: String] {
        var values = object.compactMapValues(\.text)
        if values["primaryHardwareType"] == nil { values["primaryHardwareType"] = values["type"] }
        return values
    }

    /// Percent-decoded once if needed, either alphabet, padding optional. Lines may be wrapped, as `android.util.Base64` does by default (RFC 2045
    /// §6.8). A blank within a line was a plus sign, before a form was read.
    private static func base64(_ encoded: String) -> Data? {
        guard encoded.utf8.count <= longest else { return nil }
        var text = encoded
        if text.utf8.contains(UInt8(ascii: "%")) {
            guard let decoded = PercentEncoding.decode(Array(text.utf8), plusIsSpace: false) else { return nil }
            text = decoded
        }
        var base64: [UInt8] = []
        base64.reserveCapacity(text.utf8.count + 4)
        for octet in unwrapped(Array(text.utf8)) {
            switch octet {
            case UInt8(ascii: "-"), UInt8(ascii: " "): base64.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): base64.append(UInt8(ascii: "/"))
            case UInt8(ascii: "="): break
            default: base64.append(octet)
            }
        }
        base64.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - base64.count % 4) % 4))
        return Data(base64Encoded: Data(base64))
    }

    /// Without the ends of lines, and without the blanks at either end of a line.
    private static func unwrapped(_ text: [UInt8]) -> [UInt8] {
        let isEnd: (UInt8) -> Bool = { $0 == 0x0d || $0 == 0x0a || $0 == 0x09 }
        guard text.contains(where: isEnd) || text.first == 0x20 || text.last == 0x20 else { return text }
        return text.split(whereSeparator: isEnd).flatMap { line in
            let start = line.firstIndex { $0 != 0x20 } ?? line.endIndex
            let end = line.lastIndex { $0 != 0x20 }.map { line.index(after: $0) } ?? start
            return line[start..<end]
        }
    }
}

/// A JSON value of device information: text, number or flag; anything else is ignored.
private struct Scalar {
    let text: String?
    let isText: Bool

    init(_ content: JsonNode.Content) {
        var isText = false
        switch content {
        case .string(let string):
            text = Self.printable(string)
            isText = true
        case .bool(let flag): text = flag ? "true" : "false"
        case .number(let number): text = Self.plain(number)
        case .null, .array, .object: text = nil
        }
        self.isText = isText
    }

    /// Whole numbers without point and exponent.
    private static func plain(_ number: String) -> String? {
        if let whole = Int64(number) { return String(whole) }
        guard let value = Double(number), value.isFinite else { return nil }
        return Int64(exactly: value).map { String($0) } ?? String(value)
    }

    /// Without control characters, and no longer than any real value.
    private static func printable(_ string: String) -> String {
        var text = ""
        for scalar in string.unicodeScalars.prefix(512) where scalar.properties.generalCategory != .control { text.unicodeScalars.append(scalar) }
        return text
    }
}

extension Base64 {
    /// Either alphabet, padding optional.
    static func tolerant(_ text: some StringProtocol) -> [UInt8]? {
        var digits = text.utf8.map { digit in
            switch digit {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: digit
            }
        }
        for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        return Base64.url.decode(digits)
    }
}
