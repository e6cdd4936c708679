package import Catalogue
package import Clocks
package import Contracts
package import Faults

/// Checks the framework status of an app (rest-v2 §1.3, in the order of its table). It must name an MVPD at which the person is signed in.
package struct PartnerStatusCheck: Sendable {
    package let status: PartnerStatus?
    package let catalogue: Catalogue
    package let platform: Platform
    package let now: Timestamp

    package init(_ status: PartnerStatus?, in catalogue: Catalogue, platform: Platform, now: Timestamp) {
        self.status = status
        self.catalogue = catalogue
        self.platform = platform
        self.now = now
    }

    package init(_ caller: DeviceCaller, now: Timestamp) {
        self.init(caller.partner, in: caller.catalogue, platform: caller.information.platform, now: now)
    }

    /// The MVPD of the platform's provider, also when its login is over.
    /// - Throws: `invalid_header_pfs_permission_…`, `invalid_header_pfs_provider_id_not_determined`.
    package func named() throws(Fault) -> Mvpd {
        let status = status ?? PartnerStatus()
        switch status.access {
        case .granted: break
        case .absent, .unrecognized: throw Self.fault(.partnerPermissionNotPresent, "has no permission status")
        case .notDetermined: throw Self.fault(.partnerPermissionNotDetermined, "says that the person was not asked")
        case .refused: throw Self.fault(.partnerPermissionNotGranted, "says that the person does not let the app ask")
        }
        guard !status.providerID.isEmpty, let mvpd = catalogue.configuration.mvpds.first(where: { maps($0, status.providerID) }) else {
            throw Self.fault(.partnerProviderNotDetermined, "names no provider that is known")
        }
        return mvpd
    }

    /// The same as long as the platform's login lasts.
    /// - Parameters:
    ///   - expected: The MVPD that the call is about.
    ///   - demandsExpiry: Where a login without an end is as good as none (rest-v2 D13).
    /// - Throws: As `named`; `invalid_header_pfs_provider_id_mismatch`, `invalid_header_pfs_provider_info_expired`.
    @discardableResult
    package func provider(expected: MvpdID? = nil, demandsExpiry: Bool = false) throws(Fault) -> Mvpd {
        let mvpd = try named()
        guard expected == nil || expected == MvpdID(mvpd.id) else { throw Self.fault(.partnerProviderMismatch, "names another provider") }
        let status = status ?? PartnerStatus()
        let isOver =
            status.expiresAtMilliseconds == 0
            ? demandsExpiry : Timestamp(milliseconds: Int64(clamping: status.expiresAtMilliseconds)) <= now
        guard !status.hasUnreadableExpiry, !isOver else { throw Self.fault(.partnerProviderExpired, "names a login that is over") }
        return mvpd
    }

    private func maps(_ mvpd: Mvpd, _ id: String) -> Bool {
        mvpd.platforms.contains { settings in
            OctetText(settings.platformMappingID) == OctetText(id) && (settings.platform == platform || platform == .unknown)
        }
    }

    private static func fault(_ code: Fault.Code, _ what: String) -> Fault {
        Fault(code, "'AP-Partner-Framework-Status' \(what).")
    }
}
