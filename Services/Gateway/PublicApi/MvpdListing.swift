internal import Catalogue
internal import Contracts

/// What a list of MVPDs says of each (rest-v1 §3.3, rest-v2 §2.1).
enum MvpdListing {
    /// As v1 lists it: what is false is left out, but for `authPerAggregator`.
    static func members(_ mvpd: Mvpd) -> [Document.Member] {
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

    /// As v2 lists it: `isProxy` and `isTempPass` are always there, as clients read their absence in their own ways (clients §4.11).
    static func v2Members(_ mvpd: Mvpd) -> [Document.Member] {
        var isTempPass = false
        if case .tempPass = mvpd.signIn { isTempPass = true }
        return [
            .init("id", .text(mvpd.id)), .init("displayName", .text(mvpd.displayName)), .init("logoUrl", .text(mvpd.logoURL)),
            .init("isTempPass", .flag(isTempPass)), .init("isProxy", .flag(mvpd.isProxied)),
            .init("authPerAggregator", .flag(mvpd.authPerAggregator)), .init("passiveAuthnEnabled", .flag(mvpd.passiveAuthnEnabled)),
            .init("authPerBrowserSession", .flag(mvpd.authPerBrowserSession)),
            .init("requiresSafariViewController", .flag(mvpd.requiresSafariViewController)),
        ]
    }

    /// Only MVPDs that are configured for platform single sign-on have these.
    static func sso(_ pair: (integration: Integration, mvpd: Mvpd), _ catalogue: Catalogue, _ platform: Platform?) -> [Document.Member] {
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
