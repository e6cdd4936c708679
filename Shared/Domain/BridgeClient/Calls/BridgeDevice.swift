public import Contracts
internal import Cryptography
internal import OutboundHttp
internal import StrictJson

/// The streaming device that a call is made for, as upstream shall know it. On browser and code legs it is the television of the code, not the browser.
public struct BridgeDevice: Sendable {
    /// The app's `deviceId`, after URL decoding.
    public var id: String
    public var information: DeviceInformation
    /// As the gateway determined it.
    public var address: String
    /// The port that the device's connection came from; 0: not known.
    public var port: UInt32
    /// True when the app came by HTTPS.
    public var isSecure: Bool
    public var userAgent: String
    /// The app's analytics visitor of this call; empty: none.
    public var visitor = ""
    /// `Adobe-Subject-Token` as it was sent; empty: none.
    public var subjectToken = ""
    /// `X-Roku-Reserved-Roku-Connect-Token` as it was sent; empty: none.
    public var rokuToken = ""
    /// Base64 of the person's digests at a promotional TempPass; empty: none.
    public var temporaryPassIdentity = ""
    /// The status of the platform's sign-in framework, as Base64; empty: nothing.
    public var partnerStatus = ""

    public init(id: String, information: DeviceInformation, address: String, port: UInt32, isSecure: Bool, userAgent: String) {
        self.id = id
        self.information = information
        self.address = address
        self.port = port
        self.isSecure = isSecure
        self.userAgent = userAgent
    }
}

/// An upstream wants devices named in this way: of its record in the catalogue.
public struct BridgeDeviceForm: Sendable {
    public enum IdentifierForm: Sendable {
        /// The app's device id, so that trials and resets keyed by it go on.
        case plain
        /// Its SHA-256.
        case digest
    }

    public var identifier: IdentifierForm
    /// True when what v2 requires and the app did not say becomes `unknown`.
    public var fillsInformation: Bool

    public init(identifier: IdentifierForm = .plain, fillsInformation: Bool = true) {
        self.identifier = identifier
        self.fillsInformation = fillsInformation
    }

    /// `AP-Device-Identifier` of a device.
    func identifier(_ id: String) -> String { "fingerprint " + Base64.standard.encode(Array(text(of: id).utf8)) }

    /// The device's name before it is encoded.
    public func text(of id: String) -> String {
        switch identifier {
        case .plain: id
        case .digest: Hex.encode(SHA256.hash(id))
        }
    }
}

extension BridgeDevice {
    /// Octets of `X-Device-Info`; beyond them the user agent is left out.
    static let largestInformation = 4096
    private static let largestUserAgent = 512
    private static let largestVisitor = 128
    private static let largestPlatformToken = 8192

    /// The headers of a call that describe the device (bridge §5.1). Nothing else of the app's request goes along.
    func headers(for operation: BridgeOperation, _ form: BridgeDeviceForm) -> [OutboundRequest.Header] {
        var headers: [OutboundRequest.Header] = []
        func add(_ name: String, _ value: String) { if !value.isEmpty { headers.append((name, value)) } }
        if operation.namesDevice {
            add("AP-Device-Identifier", form.identifier(id))
        }
        add("X-Device-Info", information(for: operation, form))
        if PublicAddress.contains(address) { add("X-Forwarded-For", address) }
        add("User-Agent", Self.clean(userAgent, atMost: Self.largestUserAgent))
        if operation.takesVisitor, Self.isPrintable(visitor, atMost: Self.largestVisitor) { add("AP-Visitor-Identifier", visitor) }
        if operation.takesPlatformTokens {
            add("Adobe-Subject-Token", usableSubjectToken)
            add("X-Roku-Reserved-Roku-Connect-Token", usableRokuToken)
        }
        if operation.takesTemporaryPassIdentity { add("AP-TempPass-Identity", temporaryPassIdentity) }
        if operation.takesPartnerStatus { add("AP-Partner-Framework-Status", partnerStatus) }
        return headers
    }

    /// As upstream gets it; empty: there is none, or none that a header can hold.
    public var usableSubjectToken: String { Self.isPrintable(subjectToken, atMost: Self.largestPlatformToken) ? subjectToken : "" }
    /// The same.
    public var usableRokuToken: String { Self.isPrintable(rokuToken, atMost: Self.largestPlatformToken) ? rokuToken : "" }

    /// True of an address that an upstream may hear: one of the public internet.
    public static func mayLeave(_ address: String) -> Bool { PublicAddress.contains(address) }

    private func information(for operation: BridgeOperation, _ form: BridgeDeviceForm) -> String {
        let all = members(for: operation, form)
        let whole = Self.encoded(all)
        return whole.utf8.count <= Self.largestInformation ? whole : Self.encoded(all.filter { $0.0 != "userAgent" })
    }

    private static func encoded(_ members: [(String, String)]) -> String {
        guard !members.isEmpty else { return "" }
        let text = members.map { "\(JsonWriter.quoted($0.0)):\(JsonWriter.quoted($0.1))" }.joined(separator: ",")
        return Base64.standard.encode(Array("{\(text)}".utf8))
    }

    /// The app's description of the device, with the names of v2. `Unknown` stands for a value outside v2's lists: such a one is left out.
    private func members(for operation: BridgeOperation, _ form: BridgeDeviceForm) -> [(String, String)] {
        let told = information
        let missing = form.fillsInformation ? "unknown" : ""
        func listed(_ value: String) -> String { value == "Unknown" ? "" : value }
        func required(_ value: String) -> String { value.isEmpty ? missing : value }
        var members = [
            ("primaryHardwareType", told.type), ("model", told.model), ("version", required(told.version)), ("manufacturer", told.manufacturer),
            ("vendor", told.vendor), ("osName", listed(told.osName)), ("osFamily", listed(told.osFamily)), ("osVendor", told.osVendor),
            ("osVersion", required(told.osVersion)), ("browserName", listed(told.browserName)), ("browserVendor", listed(told.browserVendor)),
            ("browserVersion", told.browserVersion), ("userAgent", told.userAgent), ("displayWidth", told.displayWidth),
            ("displayHeight", told.displayHeight), ("displayPpi", told.displayPpi), ("diagonalScreenSize", told.diagonalScreenSize),
            ("applicationId", told.applicationID), ("connectionType", required(told.connectionType)),
        ]
        // The list is shared by all devices of a platform: no connection belongs to it.
        if operation != .list { members += connection }
        return members.filter { !$0.1.isEmpty }
    }

    /// Some home-based login needs address and port. Addresses of private networks never leave.
    private var connection: [(String, String)] {
        let told = information
        let named = PublicAddress.contains(told.connectionIP)
        let ip = named ? told.connectionIP : PublicAddress.contains(address) ? address : ""
        // A port belongs to the address beside it.
        let known = named ? told.connectionPort : port > 0 && !ip.isEmpty ? "\(port)" : ""
        return [("connectionIp", ip), ("connectionPort", known), ("connectionSecure", isSecure ? "true" : told.connectionSecure)]
    }

    private static func clean(_ text: String, atMost limit: Int) -> String {
        let octets = text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }.flatMap { Array(String($0).utf8) }
        return String(decoding: octets.prefix(limit), as: UTF8.self)
    }

    private static func isPrintable(_ text: String, atMost limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}

/// A cluster names itself on the way to another one in this way, so that a request which comes back is known (bridge §14.3).
public struct BridgeVia: Hashable, Sendable {
    private static let longestHeader = 8192

    /// `boxoffice-` and the deployment's id.
    public let pseudonym: String

    /// - Parameter origin: Scheme, host and port of the cluster's public addresses: what all of its services know of it.
    public init(origin: String) { pseudonym = "boxoffice-" + Hex.encode(Array(SHA256.hash(origin.lowercased()).prefix(8))) }

    /// Value of the header `Via` (RFC 9110 §7.6.3).
    public var header: String { "1.1 \(pseudonym)" }

    /// True when a request has been here before.
    /// - Parameter values: The values of its `Via` headers; beyond 8192 octets nothing is looked at.
    public func stands(in values: [String]) -> Bool {
        values.contains { value in
            value.utf8.count <= Self.longestHeader
                && value.split(separator: ",").contains { entry in
                    let words = entry.split(whereSeparator: { $0 == " " || $0 == "\t" })
                    return words.count >= 2 && words[1].lowercased() == pseudonym
                }
        }
    }
}
