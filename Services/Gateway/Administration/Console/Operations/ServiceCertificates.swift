internal import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography
internal import GatewayEdge
internal import Memos

/// Certificates that end soon: of services, as they tell, of this gateway, and of the catalogue.
struct ServiceCertificates {
    /// As the alarm has it (Monitoring.md).
    static let notice: Duration = .seconds(30 * 86_400)

    private struct Row {
        let owner: String
        var address = ""
        let use: String
        let end: Timestamp
    }

    /// By the certificate; `nil`: it cannot be read.
    private static let ends = Memo<[UInt8], Timestamp?>(capacity: 4096)

    private let rows: [Row]
    private let now: Timestamp

    init(_ cluster: ClusterView, _ catalogue: Catalogue, now: Timestamp) {
        self.now = now
        func moment(_ certificate: CertificateEnd) -> Timestamp { Timestamp(milliseconds: Int64(clamping: certificate.endsAtMilliseconds)) }
        let peers = cluster.peers().flatMap { peer in
            peer.copies.flatMap { copy in copy.certificates.map { Row(owner: "\(peer.name) at \(copy.address)", use: $0.use, end: moment($0)) } }
        }
        let own = cluster.ownCertificates().map { Row(owner: "this gateway", use: $0.use, end: moment($0)) }
        let limit = now + Self.notice
        rows = (peers + own + Self.ofCatalogue(catalogue)).filter { $0.end < limit }
            .sorted { ($0.end, $0.owner, $0.use) < ($1.end, $1.owner, $1.use) }
    }

    /// - Returns: The line; `nil`: the table says it all.
    func tell(in content: inout [String: Any]) -> ClusterSections.Check? {
        guard !rows.isEmpty else {
            return ClusterSections.Check(name: "Certificates", text: "None of the services and of the catalogue ends within 30 days.")
        }
        var table: [String: Any] = [
            "certificateRows": rows.prefix(ClusterSections.most).map { row -> [String: Any] in
                var content: [String: Any] = [
                    "certificateOwner": row.owner, "certificateUse": row.use,
                    "certificateEnd": DisplayedTime(milliseconds: UInt64(clamping: row.end.milliseconds)).text,
                    "hasEnded": row.end < now, "certificateLeft": left(row.end),
                ]
                if !row.address.isEmpty { content["ownerAddress"] = row.address }
                return content
            }
        ]
        if rows.count > ClusterSections.most { table["moreCertificates"] = "\(rows.count - ClusterSections.most)" }
        content["certificates"] = table
        return nil
    }

    private func left(_ end: Timestamp) -> String {
        end < now ? "It has ended." : "It ends in \(DisplayedTime.span(milliseconds: UInt64(clamping: (end - now).components.seconds * 1000)))."
    }

    /// Those that are pinned for answers of MVPDs, and those for which metadata is encrypted. Each is read once.
    private static func ofCatalogue(_ catalogue: Catalogue) -> [Row] {
        let configuration = catalogue.configuration
        let pinned = configuration.mvpds.flatMap { mvpd -> [Row] in
            var certificates = mvpd.authorization?.signingCertificates ?? []
            if case .saml(let endpoint) = mvpd.signIn { certificates += endpoint.signingCertificates }
            let address = ConsoleCollection.mvpds.address(of: mvpd.id)
            return Set(certificates).compactMap { end(of: $0) }.map { Row(owner: mvpd.id, address: address, use: "signs answers", end: $0) }
        }
        func encrypting(_ certificates: [Contracts.Certificate], _ owner: String, _ address: String) -> [Row] {
            certificates.filter { !$0.revoked }.compactMap { end(of: $0.der) }.map {
                Row(owner: owner, address: address, use: "encrypts metadata", end: $0)
            }
        }
        return pinned
            + configuration.programmers.flatMap { encrypting($0.certificates, $0.id, ConsoleCollection.programmers.address(of: $0.id)) }
            + configuration.requestors.flatMap { encrypting($0.certificates, $0.id, ConsoleCollection.channels.address(of: $0.id)) }
    }

    private static func end(of der: [UInt8]) -> Timestamp? {
        ends.value(der) { (try? Cryptography.Certificate(der: der))?.notAfter }
    }
}
