internal import BridgeClient
internal import Catalogue
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Reads what the device endpoints have in common, in the order of rest-v1 §2.8: bearer, requestor, device id, device information,
/// the endpoint's own parameters.
struct DeviceCallReader: Sendable {
    let authentication: any Authentication
    let catalogue: any CatalogueSource

    /// The demands of an endpoint on a call.
    struct Rules: Sendable {
        /// True: the requestor is a part of the path.
        var requestorInPath = false
        /// The name under which it is sent otherwise.
        var requestorParameter = "requestor"
        var requestorIsOptional = false
        /// `dummy` stands for a device without an id (rest-v1 §2.5).
        var acceptsDummy = false
        /// True: it may be left out even where the requestor demands it.
        var deviceInformationIsOptional = false

        static let standard = Rules()
    }

    /// - Parameter others: Reads the endpoint's own parameters.
    /// - Throws: `BearerRejection` or the first problem in that order. A problem that the gateway finds itself is told only to the
    ///   bearer of a good token; otherwise the owning service checks the token together with its own work.
    func read<Others>(
        _ exchange: Exchange, _ rules: Rules = .standard, others: (Exchange) throws(Fault) -> Others
    ) async throws -> (call: DeviceCall, others: Others) {
        let credentials = try Credentials.required(exchange)
        var requestor = ""
        do {
            requestor = try self.requestor(exchange, rules, credentials.signedRequestor ?? "")
            return (try call(exchange, credentials, requestor: requestor, rules), try others(exchange))
        } catch {
            _ = try await authentication.verifyAccessToken(credentials.verification(requestor: requestor), context: exchange.call)
            throw error
        }
    }

    /// - Returns: The known requestor, or an empty text when it is optional and absent.
    /// - Parameter signed: The requestor of a signed request, which needs no other.
    private func requestor(_ exchange: Exchange, _ rules: Rules, _ signed: String) throws(Fault) -> String {
        var id: String
        do throws(Fault) {
            id = rules.requestorInPath ? try exchange.captured("requestor") : try exchange.value(rules.requestorParameter) ?? ""
        } catch {
            throw Fault(.invalidRequestor, error.message)
        }
        if id.isEmpty { id = signed }
        if id.isEmpty, rules.requestorIsOptional { return id }
        guard !id.isEmpty else { throw Fault(.invalidRequestor, "Required '\(rules.requestorParameter)' is not present") }
        exchange.serves([id])
        return try catalogue.current().requireRequestor(id).id
    }

    private func call(_ exchange: Exchange, _ credentials: Credentials, requestor: String, _ rules: Rules) throws(Fault) -> DeviceCall {
        let id = try deviceID(exchange, rules)
        let deviceType = try text("deviceType", exchange)
        let device = try information(
            exchange, requestor: requestor, deviceType: deviceType, isOptional: rules.deviceInformationIsOptional)
        let address = exchange.facts.clientAddress
        var call = DeviceCall(
            accessToken: credentials.accessToken, requestor: requestor, deviceID: id, deviceType: deviceType,
            deviceUser: try text("deviceUser", exchange), appID: try text("appId", exchange), device: device,
            clientAddress: address.text, userAgent: exchange.userAgent, subjectToken: SubjectToken.sent(exchange),
            signedRequest: credentials.signed)
        if try catalogue.current().requestor(requestor)?.bridge != nil { UpstreamHeaders.add(to: &call, exchange) }
        return call
    }

    /// The device's own information, or what can be derived.
    /// - Parameter isOptional: True: it may be left out even where the requestor demands it.
    /// - Throws: `invalid_device_info`.
    func information(_ exchange: Exchange, requestor: String, deviceType: String, isOptional: Bool = false) throws(Fault) -> DeviceInformation {
        let encoded = if let header = exchange.headers.value(.xDeviceInfo) { header } else { try exchange.value("device_info") }
        let record = try catalogue.current().requestor(requestor)
        let isDemanded = record?.requiresDeviceInformation == true && !isOptional
        var device: DeviceInformation =
            isDemanded || encoded?.isEmpty == false
            ? try .strict(encoded, userAgent: exchange.userAgent) : .derived(deviceType: deviceType, userAgent: exchange.userAgent)
        let address = exchange.facts.clientAddress
        if record?.bridge != nil {
            UpstreamHeaders.setConnection(of: &device, exchange)
        } else if address.isForwarded || device.connectionIP.isEmpty {
            device.connectionIP = address.text
        }
        return device
    }

    /// Longest text that a device says of itself, in octets: each is kept in a row.
    private static let longestText = 512

    private func text(_ name: String, _ exchange: Exchange) throws(Fault) -> String {
        let text = try exchange.value(name) ?? ""
        guard text.utf8.count <= Self.longestText else {
            throw Fault(.invalidRequest, "Parameter '\(name)' has more than \(Self.longestText) octets")
        }
        return text
    }

    private func deviceID(_ exchange: Exchange, _ rules: Rules) throws(Fault) -> String {
        let id: String
        do { id = try exchange.required("deviceId") } catch { throw Fault(.invalidDeviceID, error.message) }
        let isPrintable =
            id.utf8.allSatisfy { (0x20..<0x7f).contains($0) } || id.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard isPrintable, id.unicodeScalars.count <= 512 else {
            throw Fault(.invalidDeviceID, "Parameter 'deviceId' must have 1 to 512 printable characters")
        }
        guard rules.acceptsDummy || id != "dummy" else {
            throw Fault(.invalidDeviceID, "Parameter 'deviceId' may be 'dummy' only when a registration code is created")
        }
        return id
    }
}

/// The platform's identity token of a call (rest-v1 §2.6). The owning service finds out if it holds; a call without one goes on.
enum SubjectToken {
    /// Bytes; no service reads a longer one.
    private static let longest = 16 * 1024

    /// The header `Adobe-Subject-Token`, else the parameter `ast`, else the header that Roku devices add by themselves.
    /// - Returns: An empty text when none was sent, or one that nobody would read.
    static func sent(_ exchange: Exchange) -> String {
        let token =
            named(exchange.headers.value(.adobeSubjectToken)) ?? named(try? exchange.value("ast"))
            ?? named(exchange.headers.value(.rokuConnectToken)) ?? ""
        return token.utf8.count <= longest ? token : ""
    }

    private static func named(_ token: String?) -> String? { token?.isEmpty == false ? token : nil }
}

/// The fields that an app sends for a vendor alone, and that an upstream gets in its place (bridge §5.1).
enum UpstreamHeaders {
    private static let longestVisitor = 128
    private static let longestToken = 8192

    /// A value that is too long counts as not sent: nobody may be kept from watching for it.
    static func add(to call: inout DeviceCall, _ exchange: Exchange) {
        let visitor = ((try? exchange.value("ap_vi")) ?? nil) ?? ""
        let token = exchange.headers.value(.rokuConnectToken) ?? ""
        if visitor.utf8.count <= longestVisitor { call.visitorID = visitor }
        if token.utf8.count <= longestToken { call.rokuToken = token }
        call.clientPort = UInt32(exchange.facts.clientPort)
    }

    /// Sets where a device is, as an upstream may hear it (bridge §5.1). It stays with the registration code: browsers sign in by it from elsewhere. A
    /// public address that the device says of itself stays with its port. Any other becomes that of its connection, and a port belongs to the address
    /// beside it.
    static func setConnection(of device: inout DeviceInformation, _ exchange: Exchange) {
        let (address, port) = (exchange.facts.clientAddress, exchange.facts.clientPort)
        guard address.isForwarded || !BridgeDevice.mayLeave(device.connectionIP) else { return }
        if device.connectionIP != address.text { device.connectionPort = "" }
        device.connectionIP = address.text
        if port > 0 { device.connectionPort = String(port) }
    }
}

/// Keys of `X-Device-Info` and where their values go (rest-v1 §2.4).
enum DeviceField {
    static let all: [String: any WritableKeyPath<DeviceInformation, String> & Sendable] = [
        "primaryHardwareType": \.type, "model": \.model, "version": \.version, "manufacturer": \.manufacturer, "vendor": \.vendor,
        "osName": \.osName, "osFamily": \.osFamily, "osVendor": \.osVendor, "osVersion": \.osVersion, "browserName": \.browserName,
        "browserVendor": \.browserVendor, "browserVersion": \.browserVersion, "userAgent": \.userAgent,
        "displayWidth": \.displayWidth, "displayHeight": \.displayHeight, "displayPpi": \.displayPpi,
        "diagonalScreenSize": \.diagonalScreenSize, "connectionIp": \.connectionIP, "connectionPort": \.connectionPort,
        "connectionType": \.connectionType, "connectionSecure": \.connectionSecure, "applicationId": \.applicationID,
    ]

    /// Fields that know only certain values; any other is `Unknown`.
    static let restricted: [String: Set<String>] = [
        "primaryHardwareType": [
            "Camera", "DataCollectionTerminal", "Desktop", "EmbeddedNetworkModule", "eReader", "GamesConsole", "GeolocationTracker",
            "Glasses", "MediaPlayer", "MobilePhone", "PaymentTerminal", "PluginModem", "SetTopBox", "TV", "Tablet", "WirelessHotspot",
            "Wristwatch", "Unknown",
        ],
        "osName": [
            "Android", "Chrome OS", "Linux", "Mac OS", "OS X", "OpenBSD", "Roku OS", "Windows", "iOS", "tvOS", "webOS",
        ],
        "osFamily": [
            "Android", "BSD", "Linux", "PlayStation OS", "Roku OS", "Symbian", "Tizen", "Windows", "iOS", "macOS", "tvOS", "webOS",
        ],
        "browserName": [
            "Android Browser", "Chrome", "Edge", "Firefox", "Internet Explorer", "Opera", "Safari", "SeaMonkey", "Symbian Browser",
        ],
        "browserVendor": [
            "Amazon", "Apple", "Google", "Microsoft", "Motorola", "Mozilla", "Netscape", "Nintendo", "Nokia", "Samsung",
            "Sony Ericsson",
        ],
    ]

    /// The listed spelling of a value, or `Unknown`.
    static func normalized(_ value: String, key: String) -> String {
        if key == "connectionSecure" { return ["true", "false"].contains(value.lowercased()) ? value.lowercased() : "" }
        guard let accepted = restricted[key] else { return value }
        if key == "osName", value == "Roku" { return "Roku OS" }
        return accepted.contains(value) ? value : "Unknown"
    }
}

/// The kind in the parameter `deviceType`, as clients are seen to write it (clients §1.1); letter case, blanks, `-` and `_` do not count.
struct DeviceKind: Sendable {
    let type: String
    let model: String
    let osName: String
    let osFamily: String

    /// - Returns: `nil` for a text that names no platform.
    init?(_ deviceType: String) {
        let word = deviceType.utf8.prefix(32).filter { ![0x20, 0x2d, 0x5f].contains($0) }
        switch String(decoding: word, as: UTF8.self).lowercased() {
        case "appletv", "tvos": self.init("SetTopBox", "AppleTV", "tvOS", "tvOS")
        case "androidtv": self.init("SetTopBox", "Android TV", "Android", "Android")
        case "firetv": self.init("SetTopBox", "Fire TV", "Android", "Android")
        case "android", "androidmobile", "androidphone": self.init("MobilePhone", "Android", "Android", "Android")
        case "roku": self.init("SetTopBox", "Roku", "Roku OS", "Roku OS")
        case "iphone", "ios": self.init("MobilePhone", "iPhone", "iOS", "iOS")
        case "ipad": self.init("Tablet", "iPad", "iOS", "iOS")
        case "win8universal", "windows": self.init("Desktop", "PC", "Windows", "Windows")
        case "xbox", "xbox360", "xboxone": self.init("GamesConsole", "Xbox", "Windows", "Windows")
        default: return nil
        }
    }

    private init(_ type: String, _ model: String, _ osName: String, _ osFamily: String) {
        self.type = type
        self.model = model
        self.osName = osName
        self.osFamily = osFamily
    }
}
