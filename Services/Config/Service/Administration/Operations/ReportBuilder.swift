internal import Catalogue
internal import Contracts

/// The configuration reports: what an integration's values come to on each platform (dashboard §6).
struct ReportBuilder {
    let kind: ReportKind

    /// A table's columns after requestor and MVPD.
    static let columns: KeyValuePairs<String, PlatformScope> = [
        "Desktop": .desktop, "Mobile iOS": .ios, "Mobile Android": .android, "Mobile Others": .mobile, "TVCD Roku": .roku, "TVCD FireTV": .fireTv,
        "TVCD AppleTV": .tvos, "TVCD Others": .tv, "Unidentified": .unidentified,
    ]

    func row(_ integration: Integration, _ mvpd: Mvpd) -> ReportRow {
        let cells = Self.columns.map { cell(integration, mvpd, $0.value) }
        return ReportRow(requestorID: integration.requestorID, mvpdID: mvpd.id, mvpdName: mvpd.displayName, cells: cells)
    }

    private func cell(_ integration: Integration, _ mvpd: Mvpd, _ scope: PlatformScope) -> String {
        switch kind {
        case .authnTtl: mvpd.authnTtlFromMvpd ? "Set by MVPD" : lifetime("authnTtl", integration, mvpd, scope)
        case .authzTtl: mvpd.authzTtlFromMvpd ? "Set by MVPD" : lifetime("authzTtl", integration, mvpd, scope)
        case .sso: singleSignOn(integration, mvpd, scope)
        case .unknown, .unrecognized: ""
        }
    }

    /// The value that decides. A trial has the lifetime of its own record.
    private func lifetime(_ name: String, _ integration: Integration, _ mvpd: Mvpd, _ scope: PlatformScope) -> String {
        if case .tempPass(let pass) = mvpd.signIn { return Self.text(seconds: pass.ttlSeconds) }
        guard case .number(let seconds) = property(name, integration, mvpd, scope) else { return "" }
        return Self.text(seconds: seconds)
    }

    /// Uncertain: it is on, but the viewer may refuse it, or the MVPD signs in per channel.
    private func singleSignOn(_ integration: Integration, _ mvpd: Mvpd, _ scope: PlatformScope) -> String {
        let platforms: [PlatformScope: Platform] = [.ios: .ios, .tvos: .tvos, .roku: .roku, .fireTv: .fireTv]
        guard let platform = platforms[scope], property("platformSso", integration, mvpd, scope) == .flag(true),
            let settings = mvpd.platforms.first(where: { $0.platform == platform }), settings.enablePlatformServices,
            settings.boardingStatus == .supported || platform == .roku || platform == .fireTv
        else { return "Disabled" }
        let mayFail = ["enforcePlatformPermissions", "authPerAggregator"].contains { property($0, integration, mvpd, scope) == .flag(true) }
        return mayFail ? "Uncertain" : "Enabled"
    }

    private func property(_ name: String, _ integration: Integration, _ mvpd: Mvpd, _ scope: PlatformScope) -> EffectiveProperty.Value? {
        Catalogue.effective(integration, mvpd, scope: scope).first { $0.name == name }?.value
    }

    /// `30 days`, `6 hours 10 minutes`.
    static func text(seconds: UInt32) -> String {
        let parts = [("day", seconds / 86_400), ("hour", seconds / 3600 % 24), ("minute", seconds / 60 % 60), ("second", seconds % 60)]
        return parts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)\($0.1 == 1 ? "" : "s")" }.joined(separator: " ")
    }
}
