internal import Catalogue
internal import Contracts
internal import Faults
internal import Hummingbird
internal import NIOCore

/// `/api/v1/config/{requestor}`: a requestor and the MVPDs that may be used with it (rest-v1 §3.3).
struct ConfigEndpoint: Sendable {
    let dependencies: Dependencies
    private let bodies = Memo<Shown, ByteBuffer>(capacity: 512)

    /// All that a body depends on.
    private struct Shown: Hashable {
        let version: UInt64
        let requestor: String
        let platform: Platform?
        let format: ReplyFormat
    }

    init(dependencies: Dependencies) { self.dependencies = dependencies }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let catalogue = try dependencies.catalogue.current()
        let id = try exchange.captured("requestor")
        if let credentials = try Credentials.optional(exchange) {
            let request = credentials.verification(requestor: catalogue.requestor(id)?.id ?? "")
            _ = try await dependencies.authentication.verifyAccessToken(request, context: exchange.call)
        }
        let requestor = try catalogue.requireRequestor(id)
        let platform = try Self.platform(exchange)
        let shown = Shown(version: catalogue.version, requestor: requestor.id, platform: platform, format: exchange.format)
        return Response(
            body: bodies.value(shown) { Self.document(requestor, catalogue, platform: platform).body(shown.format) }, format: shown.format)
    }

    /// - Returns: `unknown` for a device that is of no platform that the catalogue names; `nil` when the call tells nothing of its device.
    private static func platform(_ exchange: Exchange) throws -> Platform? {
        guard let encoded = try exchange.headers[.xDeviceInfo] ?? exchange.value("device_info"), !encoded.isEmpty else { return nil }
        if let device = try? DeviceInformation.strict(encoded, userAgent: exchange.userAgent) { return device.platform }
        let guessed = DeviceInformation.lenient(encoded, userAgent: exchange.userAgent).platform
        return guessed == .unknown ? nil : guessed
    }

    /// - Parameter platform: Whose values are shown; `nil`: the general ones, with the single sign-on settings of any platform that is
    ///   configured.
    static func document(_ requestor: Requestor, _ catalogue: Catalogue, platform: Platform?) -> Document {
        let domains = requestor.domains.map { domain in
            Document.Value.object([.init("name", .text(domain.name)), .init("mvpdInitiated", .flag(domain.mvpdInitiated))])
        }
        let mvpds = catalogue.activeIntegrations(requestor: requestor.id, platform: platform).map { pair in
            Document.Value.object(members(pair.mvpd) + sso(pair, catalogue, platform))
        }
        return Document(
            "config",
            [
                .init(
                    "requestor",
                    .object([
                        .init("id", .text(requestor.id)), .init("name", .text(requestor.name)),
                        .init("domains", .list(domains, item: "domain")), .init("mvpds", .list(mvpds, item: "mvpd")),
                    ]))
            ])
    }

    private static func members(_ mvpd: Mvpd) -> [Document.Member] {
        var members: [Document.Member] = [
            .init("id", .text(mvpd.id)), .init("displayName", .text(mvpd.displayName)), .init("logoUrl", .text(mvpd.logoURL)),
            .init("authPerAggregator", .flag(mvpd.authPerAggregator)),
        ]
        if mvpd.iframeRequired {
            members.append(.init("iFrameRequired", .flag(true)))
            let sizes = [("iFrameWidth", mvpd.iframeWidth), ("iFrameHeight", mvpd.iframeHeight)]
            members += sizes.filter { $0.1 != 0 }.map { Document.Member($0.0, .number(Int64($0.1))) }
        }
        if case .tempPass = mvpd.signIn { members.append(.init("isTempPass", .flag(true))) }
        let flags = [
            ("isProxy", mvpd.isProxied), ("passiveAuthnEnabled", mvpd.passiveAuthnEnabled),
            ("authPerBrowserSession", mvpd.authPerBrowserSession), ("requiresSafariViewController", mvpd.requiresSafariViewController),
        ]
        return members + flags.filter(\.1).map { Document.Member($0.0, .flag(true)) }
    }

    /// Only MVPDs that are configured for platform single sign-on have these.
    private static func sso(_ pair: (integration: Integration, mvpd: Mvpd), _ catalogue: Catalogue, _ platform: Platform?) -> [Document.Member] {
        guard let (settings, isOn) = settings(pair, catalogue, platform) else { return [] }
        var members: [Document.Member] = [.init("enablePlatformServices", .flag(isOn))]
        if let status = name(settings.boardingStatus) { members.append(.init("boardingStatus", .text(status))) }
        members += [
            .init("displayInPlatformPicker", .flag(settings.displayInPlatformPicker)),
            .init("platformMappingId", .text(settings.platformMappingID)),
            .init("requiredMetadataFields", .list(settings.requiredMetadataFields.map { .text($0) }, item: "field")),
        ]
        if settings.enforcePlatformPermissions { members.append(.init("enforcePlatformPermissions", .flag(true))) }
        return members
    }

    /// The settings of the platform, or of the first one where single sign-on is on, else the first one, and whether it is on there.
    private static func settings(
        _ pair: (integration: Integration, mvpd: Mvpd), _ catalogue: Catalogue, _ platform: Platform?
    ) -> (settings: PlatformSettings, isOn: Bool)? {
        if let platform { return pair.mvpd.platforms.first { $0.platform == platform }.map { ($0, isOn($0, pair.integration)) } }
        let configured = pair.mvpd.platforms.compactMap { settings -> (settings: PlatformSettings, isOn: Bool)? in
            let requestor = pair.integration.requestorID
            let resolved = try? catalogue.requireIntegration(requestor: requestor, mvpd: pair.mvpd.id, platform: settings.platform)
            return resolved.flatMap { own in
                own.mvpd.platforms.first { $0.platform == settings.platform }.map { ($0, isOn($0, own.integration)) }
            }
        }
        return configured.first(where: \.isOn) ?? configured.first
    }

    private static func isOn(_ settings: PlatformSettings, _ integration: Integration) -> Bool {
        settings.enablePlatformServices && integration.platformSsoEnabled
    }

    private static func name(_ status: BoardingStatus) -> String? {
        switch status {
        case .supported: "SUPPORTED"
        case .picker: "PICKER"
        case .none, .unrecognized: nil
        }
    }
}
