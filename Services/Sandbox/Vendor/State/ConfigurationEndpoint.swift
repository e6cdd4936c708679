internal import SandboxKit
internal import Clocks

/// `GET /api/v2/{sp}/configuration` (rest-v2 §2.1).
struct ConfigurationEndpoint: Sendable {
    let memory: VendorMemory

    private struct Domain: Encodable {
        let name: String
        let mvpdInitiated = false
    }

    private struct Mvpd: Encodable {
        let id: String
        let displayName: String
        let logoUrl: String
        let isTempPass: Bool
        let isProxy: Bool
        let authPerAggregator = false
        let passiveAuthnEnabled = false
        let authPerBrowserSession = false
        var boardingStatus: String?
        var platformMappingId: String?
        var enablePlatformServices: Bool?
        var displayInPlatformPicker: Bool?
        var enforcePlatformPermissions: Bool?
    }

    private struct Requestor: Encodable {
        let id: String
        let name: String
        let domains: [Domain]
        let mvpds: [Mvpd]
    }

    private struct Body: Encodable {
        let device: String
        let clientType: String
        let os: String
        /// Milliseconds.
        let time: Int64
        let requestor: Requestor
    }

    func answer(_ call: VendorCall) throws -> VendorAnswer {
        let body: Body = try memory.access { state in
            let serviceProvider = try VendorCaller(call, state).serviceProvider
            let info = try DeviceInfo(header: call.header("x-device-info"))
            return Body(
                device: info["primaryHardwareType"] ?? "Unknown", clientType: "unknown", os: info["osName"] ?? "unknown",
                time: call.now.milliseconds,
                requestor: Requestor(
                    id: serviceProvider.id, name: serviceProvider.name, domains: serviceProvider.domains.map { Domain(name: $0) },
                    mvpds: state.catalogue.offered(by: serviceProvider.id).map { Self.listed($0, isApple: info.isApple) }))
        }
        return try .json(body, outcome: "configuration")
    }

    /// Apple's platform alone is told what it signs in to.
    private static func listed(_ mvpd: VendorCatalogue.Mvpd, isApple: Bool) -> Mvpd {
        var listed = Mvpd(
            id: mvpd.id, displayName: mvpd.displayName, logoUrl: mvpd.logoUrl ?? "https://img.sandbox.example/\(mvpd.id).png",
            isTempPass: mvpd.tempPass != nil, isProxy: mvpd.isProxy)
        guard isApple, let platformID = mvpd.platformMappingId else { return listed }
        listed.boardingStatus = mvpd.boardingStatus
        listed.platformMappingId = platformID
        listed.enablePlatformServices = mvpd.boardingStatus == "SUPPORTED"
        listed.displayInPlatformPicker = mvpd.boardingStatus != nil
        listed.enforcePlatformPermissions = false
        return listed
    }
}
