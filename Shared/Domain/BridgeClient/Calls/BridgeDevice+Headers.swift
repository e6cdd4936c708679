internal import Contracts
internal import Cryptography
internal import OutboundHttp
internal import StrictJson

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
            if Self.isPrintable(subjectToken, atMost: Self.largestPlatformToken) { add("Adobe-Subject-Token", subjectToken) }
            if Self.isPrintable(rokuToken, atMost: Self.largestPlatformToken) { add("X-Roku-Reserved-Roku-Connect-Token", rokuToken) }
        }
        if operation.takesTemporaryPassIdentity { add("AP-TempPass-Identity", temporaryPassIdentity) }
        if operation.takesPartnerStatus { add("AP-Partner-Framework-Status", partnerStatus) }
        return headers
    }

    private func information(for operation: BridgeOperation, _ form: BridgeDeviceForm) -> String {
        let all = members(for: operation, form)
        let whole = Self.encoded(all)
        return whole.utf8.count <= Self.largestInformation ? whole : Self.encoded(all.filter { $0.0 != "userAgent" })
    }

    private static func encoded(_ members: [(String, String)]) -> String {
        guard !members.isEmpty else { return "" }
        let text = members.map { "\(JsonNode.quoted($0.0)):\(JsonNode.quoted($0.1))" }.joined(separator: ",")
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
