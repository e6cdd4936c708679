internal import Clocks
internal import FoundationEssentials

/// The partner framework's status (rest-v2 §1.3, `AP-Partner-Framework-Status`).
struct PartnerStatus: Sendable {
    /// Where the expiry date must be there.
    enum Strictness { case expiryMayBeAbsent, expiryNeeded }

    private struct Message: Decodable {
        struct Permission: Decodable { let accessStatus: String? }
        struct Provider: Decodable {
            let id: String?
            let expirationDate: String?
        }

        let frameworkPermissionInfo: Permission?
        let frameworkProviderInfo: Provider?
    }

    let isSent: Bool
    private let message: Message?

    init(header: String?) {
        isSent = header != nil
        message = header.flatMap { $0.utf8.count <= 8192 ? Base64.octets($0) : nil }.flatMap {
            try? JSONDecoder().decode(Message.self, from: Data($0))
        }
    }

    /// The MVPD that the platform has signed in to.
    func mvpd(_ catalogue: UpstreamCatalogue) -> UpstreamCatalogue.Mvpd? {
        (message?.frameworkProviderInfo?.id).flatMap(catalogue.mvpd(platformMappingID:))
    }

    /// The first check that fails, in the order of the table.
    /// - Parameter mvpd: The one that is addressed; nil: the status says which.
    func fault(
        for mvpd: UpstreamCatalogue.Mvpd?, _ catalogue: UpstreamCatalogue, at now: Timestamp, _ strictness: Strictness = .expiryMayBeAbsent
    ) -> UpstreamErrorCode? {
        guard let access = message?.frameworkPermissionInfo?.accessStatus else { return .partnerPermissionNotPresent }
        if access == "notDetermined" { return .partnerPermissionNotDetermined }
        guard access == "granted" else { return .partnerPermissionNotGranted }
        guard let named = self.mvpd(catalogue) else { return .partnerProviderNotDetermined }
        if let mvpd, mvpd.id != named.id { return .partnerProviderMismatch }
        guard let text = message?.frameworkProviderInfo?.expirationDate else {
            return strictness == .expiryNeeded ? .partnerProviderExpired : nil
        }
        guard let end = Int64(text), now.milliseconds < end else { return .partnerProviderExpired }
        return nil
    }
}
