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

    private let values: [String: AppleClaim]

    init(_ info: DeviceInfo, address: String) {
        func text(_ name: String) -> AppleClaim { info[name].map { .text($0) } ?? .null }
        func number(_ name: String) -> AppleClaim { .number(info[name].flatMap { Int64($0) } ?? 0) }
        func version(_ name: String) -> AppleClaim {
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
