internal import SandboxKit
internal import FoundationEssentials

/// The facts of `X-Device-Info` about a device (rest-v2 §1.3).
struct DeviceInfo: Sendable, Codable, Equatable {
    /// Scalars as text; other values count as absent.
    private(set) var values: [String: String] = [:]

    init() {}

    /// - Parameter header: Base64 of a JSON object; percent-encoded, of the URL alphabet and unpadded too. Base64 of something else says nothing.
    /// - Throws: `invalid_header_device_info` when it is no Base64.
    init(header: String?) throws(VendorRefusal) {
        guard let header else { return }
        guard header.utf8.count <= 16_384, let octets = Self.octets(header) else { throw VendorRefusal(.invalidDeviceInfo) }
        guard let members = try? JSONDecoder().decode([String: JsonValue].self, from: Data(octets)) else { return }
        for (name, value) in members.prefix(64) {
            switch value {
            case .text(let text): values[name] = String(text.prefix(512))
            case .number(let number): values[name] = String(number)
            case .flag(let flag): values[name] = String(flag)
            case .list, .object, .null: break
            }
        }
        if values["primaryHardwareType"] == nil { values["primaryHardwareType"] = values["type"] }
    }

    subscript(_ name: String) -> String? { values[name] }

    /// True when Apple's framework of TV providers exists on the platform.
    var isApple: Bool { ["iOS", "tvOS"].contains { $0 == values["osName"] || $0 == values["osFamily"] } }

    private static func octets(_ header: String) -> [UInt8]? {
        let text = header.contains("%") ? FormFields.percentDecoded(header) : header
        guard let text, !text.isEmpty else { return nil }
        var standard = text.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0 }
        while standard.last == UInt8(ascii: "=") { standard.removeLast() }
        standard += [UInt8](repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        return Base64.octets(String(decoding: standard, as: UTF8.self))
    }
}

/// The streaming device that a call is about (rest-v2 §1.3).
struct DeviceIdentifier: Sendable, Hashable {
    /// The decoded octets: the same text as v1's `deviceId`.
    let octets: [UInt8]

    init(_ name: String) { octets = Array(name.utf8) }

    /// - Parameter header: `AP-Device-Identifier`.
    /// - Throws: `invalid_header_device_identifier` unless it is `fingerprint` and Base64 of something.
    init(header: String?) throws(VendorRefusal) {
        let parts = (header ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "fingerprint", let octets = Base64.octets(String(parts[1])), (1...1024).contains(octets.count) else {
            throw VendorRefusal(.invalidDeviceIdentifier)
        }
        self.octets = octets
    }

    var name: String { String(decoding: octets, as: UTF8.self) }

    /// 40 hexadecimal digits, for the ids of people that nobody has signed in.
    var hash: String { String(Hexadecimal.text(Digest.sha256(octets)).prefix(40)) }
}

/// The streaming device as 2.4 shows it: unknown texts are null, unknown numbers 0.
struct DeviceDescription: Sendable, Encodable {
    struct Version: Sendable, Encodable {
        let major: Int
        let minor: Int
        let patch: Int
        let profile: String

        /// - Returns: nil for a text that does not begin with a number.
        init?(_ text: String?) {
            let numbers = (text ?? "").split(separator: ".").map { part in Int(part.prefix { $0.isNumber }) }
            guard let major = numbers.first ?? nil else { return nil }
            self.major = major
            minor = numbers.count > 1 ? numbers[1] ?? 0 : 0
            patch = numbers.count > 2 ? numbers[2] ?? 0 : 0
            profile = ""
        }
    }

    private let values: [String: JsonValue]

    init(_ info: DeviceInfo, address: String) {
        func text(_ name: String) -> JsonValue { info[name].map { .text($0) } ?? .null }
        func number(_ name: String) -> JsonValue { .number(info[name].flatMap { Int64($0) } ?? 0) }
        func version(_ name: String) -> JsonValue {
            guard let version = Version(info[name]) else { return .null }
            return .object([
                "major": .number(Int64(version.major)), "minor": .number(Int64(version.minor)), "patch": .number(Int64(version.patch)),
                "profile": .text(version.profile),
            ])
        }
        values = [
            "type": text("primaryHardwareType"), "model": text("model"), "version": version("version"), "applicationId": text("applicationId"),
            "hardware": .object([
                "name": text("model"), "vendor": text("vendor"), "version": version("version"), "manufacturer": text("manufacturer"),
            ]),
            "operatingSystem": .object([
                "name": text("osName"), "family": text("osFamily"), "vendor": text("osVendor"), "version": version("osVersion"),
            ]),
            "browser": .object([
                "name": text("browserName"), "vendor": text("browserVendor"), "version": version("browserVersion"), "userAgent": text("userAgent"),
                "originalUserAgent": text("userAgent"),
            ]),
            "display": .object([
                "width": number("displayWidth"), "height": number("displayHeight"), "ppi": number("displayPpi"), "name": .null, "vendor": .null,
                "version": .null, "diagonalSize": info["diagonalScreenSize"].flatMap { Int64($0) }.map { .number($0) } ?? .null,
            ]),
            "connection": .object([
                "ipAddress": .text(info["connectionIp"] ?? address), "port": text("connectionPort"),
                "secure": .flag(info["connectionSecure"] == "true"), "type": text("connectionType"),
            ]),
        ]
    }

    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
}
