internal import Catalogue
internal import Contracts
internal import Faults
internal import Hummingbird

/// `/api/v1/config/{requestor}`: a requestor and the MVPDs that may be used with it (rest-v1 §3.3).
struct ConfigEndpoint: Sendable {
    let dependencies: Dependencies

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let catalogue = try dependencies.catalogue.current()
        let id = try exchange.captured("requestor")
        if let token = try Bearer.optional(exchange) {
            let request = VerifyAccessTokenRequest(accessToken: token, requestor: catalogue.requestor(id)?.id ?? "")
            _ = try await dependencies.authentication.verifyAccessToken(request, context: exchange.call)
        }
        let requestor = try catalogue.requireRequestor(id)
        let encoded = try exchange.headers[.xDeviceInfo] ?? exchange.value("device_info")
        let platform = encoded.flatMap { PlatformRule.platform(.lenient($0, userAgent: exchange.userAgent)) }
        return Response(Self.document(requestor, catalogue, platform: platform), format: exchange.format)
    }

    /// - Parameter platform: The platform whose single sign-on settings are shown; `nil`: any that is configured.
    static func document(_ requestor: Requestor, _ catalogue: Catalogue, platform: Platform?) -> Document {
        let domains = requestor.domains.map { domain in
            Document.Value.object([.init("name", .text(domain.name)), .init("mvpdInitiated", .flag(domain.mvpdInitiated))])
        }
        let mvpds = catalogue.activeIntegrations(requestor: requestor.id).map { pair in
            Document.Value.object(members(pair.mvpd) + sso(pair.mvpd, pair.integration, platform))
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
            members += [
                .init("iFrameRequired", .flag(true)), .init("iFrameWidth", .number(Int64(mvpd.iframeWidth))),
                .init("iFrameHeight", .number(Int64(mvpd.iframeHeight))),
            ]
        }
        if case .tempPass = mvpd.signIn { members.append(.init("isTempPass", .flag(true))) }
        let flags = [
            ("isProxy", mvpd.isProxied), ("passiveAuthnEnabled", mvpd.passiveAuthnEnabled),
            ("authPerBrowserSession", mvpd.authPerBrowserSession), ("requiresSafariViewController", mvpd.requiresSafariViewController),
        ]
        return members + flags.filter(\.1).map { Document.Member($0.0, .flag(true)) }
    }

    /// Only MVPDs that are configured for platform single sign-on have these.
    private static func sso(_ mvpd: Mvpd, _ integration: Integration, _ platform: Platform?) -> [Document.Member] {
        guard let settings = mvpd.platforms.first(where: { platform == nil || $0.platform == platform }) else { return [] }
        var members: [Document.Member] = [
            .init("enablePlatformServices", .flag(settings.enablePlatformServices && integration.platformSsoEnabled))
        ]
        if let status = name(settings.boardingStatus) { members.append(.init("boardingStatus", .text(status))) }
        members += [
            .init("displayInPlatformPicker", .flag(settings.displayInPlatformPicker)),
            .init("platformMappingId", .text(settings.platformMappingID)),
            .init("requiredMetadataFields", .list(settings.requiredMetadataFields.map { .text($0) }, item: "field")),
        ]
        if settings.enforcePlatformPermissions { members.append(.init("enforcePlatformPermissions", .flag(true))) }
        return members
    }

    private static func name(_ status: BoardingStatus) -> String? {
        switch status {
        case .supported: "SUPPORTED"
        case .picker: "PICKER"
        case .none, .unrecognized: nil
        }
    }
}
