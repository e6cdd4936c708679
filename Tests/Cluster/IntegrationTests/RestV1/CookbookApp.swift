@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// An app on an Apple device that follows the cookbook of platform sign-in step by step (rest-v1 §4.4).
struct CookbookApp: Sendable {
    /// Where the cookbook ends.
    enum End: Equatable, CustomStringConvertible {
        /// Step 1: the session is there.
        case signedIn
        /// Step 9: the platform's answer was exchanged.
        case exchanged
        /// Step 10: the ordinary login, with an MVPD that the person chose already, or with the app's own picker.
        case ordinary(preselected: String?)

        var description: String {
            switch self {
            case .signedIn: "signed in already"
            case .exchanged: "exchanged"
            case .ordinary(let mvpd): mvpd.map { "ordinary login at \($0)" } ?? "ordinary login with the app's own picker"
            }
        }
    }

    let device: Device
    let platform: StandInPlatform
    var deviceType: String
    /// The changes of the account between the login at the platform and the query of the MVPD.
    var beforeQuery: [String: any Sendable]?

    /// A new device with a new Apple account.
    static func make(_ deviceType: String = "tvOS", at requestor: String = "ACME1") async throws -> CookbookApp {
        var device = try await Device.make(requestor)
        let isPhone = deviceType == "iOS"
        device.information = Device.encoded(
            #"{"primaryHardwareType":"\#(isPhone ? "MobilePhone" : "SetTopBox")","model":"Test","osName":"\#(isPhone ? "iOS" : "tvOS")"}"#)
        let addresses = ClusterAddresses(ports: device.cluster.ports)
        let platform = StandInPlatform(exchange: device.cluster.exchange, address: addresses.apple, account: UUID().uuidString)
        return CookbookApp(device: device, platform: platform, deviceType: deviceType)
    }

    /// False where the gateway withholds what the platform is for: through a bridge (bridge §11). Every app then takes the ordinary way.
    var isServed: Bool { !device.cluster.isBridge }

    func expected(_ end: End) -> End { isServed ? end : .ordinary(preselected: nil) }

    func play() async throws -> End {
        if try await device.checkAuthn() == 200 { return .signedIn }
        guard try await isGranted() else { return .ordinary(preselected: nil) }
        let mvpds = try await mvpds()
        var login = try await platform.metadata(interruptionAllowed: false)
        if login.provider == nil || !isCurrent(login) {
            guard try await isGranted() else { return .ordinary(preselected: nil) }
            login = try await platform.metadata(interruptionAllowed: true, supported: mvpds.filter(\.isInPicker).map(\.mapping))
            if login.error == 1, let chosen = mvpds.first(where: { $0.mapping == login.unsupportedProvider }) {
                return .ordinary(preselected: chosen.id)
            }
            guard login.error == nil, login.provider != nil, isCurrent(login) else { return .ordinary(preselected: nil) }
        }
        guard let provider = login.provider, let mvpd = mvpds.first(where: { $0.mapping == provider && $0.isSupported }) else {
            return .ordinary(preselected: nil)
        }
        return try await exchange(provider, mvpd) ? .exchanged : .ordinary(preselected: nil)
    }

    /// Steps 6 to 9.
    private func exchange(_ provider: String, _ mvpd: PlatformMvpd) async throws -> Bool {
        let request = try await profileRequest(mvpd.id)
        guard request.status == 200 else { return false }
        if let beforeQuery { try await platform.set(beforeQuery) }
        guard try await isGranted() else { return false }
        let answer = try await platform.metadata(interruptionAllowed: false, attributes: mvpd.fields, token: request.text)
        guard answer.provider == provider, let response = answer.response else { return false }
        return try await exchange(StandInPlatform.encoded(response), mvpd: mvpd.id).status == 204
    }

    func profileRequest(_ mvpd: String) async throws -> HTTPAnswer {
        let path = "/api/v1/\(device.requestor)/profile-requests/\(mvpd)"
        return try await device.cluster.send(Call("GET", path, query: ["deviceType": deviceType], headers: device.headers))
    }

    /// - Parameter response: The MVPD's answer, Base64.
    func exchange(_ response: String, mvpd: String = "NorthCable") async throws -> HTTPAnswer {
        try await device.cluster.send(exchangeCall(response, mvpd: mvpd))
    }

    func exchangeCall(_ response: String, mvpd: String = "NorthCable") -> Call {
        let fields = [
            ("requestor", device.requestor), ("deviceId", device.id), ("mvpd", mvpd), ("deviceType", deviceType), ("SAMLResponse", response),
        ]
        return .form("/api/v1/tokens/authn", fields, headers: device.headers)
    }

    /// The MVPD's response that the framework gets for a fresh profile request, as text.
    func response(_ state: [String: any Sendable] = ["access": "granted", "provider": "north-cable"]) async throws -> String {
        try await platform.set(state)
        let request = try await profileRequest("NorthCable")
        try #require(request.status == 200, "\(request.text)")
        let answer = try await platform.metadata(interruptionAllowed: false, attributes: ["userID", "householdID"], token: request.text)
        return try #require(answer.response, "\(answer)")
    }

    /// A whole silent sign-in.
    func signIn() async throws {
        let answer = try await exchange(StandInPlatform.encoded(try await response()))
        try #require(answer.status == 204, "\(answer.text)")
    }

    /// `tokenSource` of the user metadata.
    func tokenSource() async throws -> String? {
        let answer = try await device.get("/api/v1/tokens/usermetadata")
        try #require(answer.status == 200, "\(answer.text)")
        return (answer.object["data"] as? [String: Any])?["tokenSource"] as? String
    }

    private func isGranted() async throws -> Bool { try await platform.access() == "granted" }

    private func isCurrent(_ login: StandInPlatform.Metadata) -> Bool { login.authenticatedUntil.map { Date() < $0 } ?? false }

    private func mvpds() async throws -> [PlatformMvpd] {
        let answer = try await device.cluster.send(Call("GET", "/api/v1/config/\(device.requestor)", headers: device.headers))
        try #require(answer.status == 200, "\(answer.text)")
        return PlatformMvpd.all(in: answer.object)
    }
}

/// An MVPD as far as the platform is concerned (rest-v1 §3.3).
struct PlatformMvpd: Sendable {
    let id: String
    /// The platform's own name of it.
    let mapping: String
    /// False: the platform lists it, and it is signed in the ordinary way.
    let isSupported: Bool
    let isInPicker: Bool
    /// The fields that the platform must get from it.
    let fields: [String]

    /// - Parameter config: The configuration of a requestor as the API gives it.
    static func all(in config: [String: Any]) -> [PlatformMvpd] {
        let requestor = config["requestor"] as? [String: Any]
        return (requestor?["mvpds"] as? [[String: Any]] ?? []).compactMap { record in
            guard let id = record["id"] as? String, let mapping = record["platformMappingId"] as? String else { return nil }
            return PlatformMvpd(
                id: id, mapping: mapping,
                isSupported: record["enablePlatformServices"] as? Bool == true && record["boardingStatus"] as? String == "SUPPORTED",
                isInPicker: record["displayInPlatformPicker"] as? Bool == true, fields: record["requiredMetadataFields"] as? [String] ?? [])
        }
    }
}
