internal import Contracts
internal import GatewayEdge
internal import TextEncodings

/// What metadata says, as the template wants it: what is understood, what is doubtful, what keeps it from being taken.
struct ConnectPreview {
    let content: [String: Any]

    /// - Parameter origin: Where people come back to.
    init(_ metadata: ProviderMetadata, _ form: ConnectForm, origin: String) {
        let confirmed = Set(form.fingerprints.map { OctetText($0) })
        let expired = Set(form.expired.map { OctetText($0) })
        content = [
            "entityId": metadata.entityID.isEmpty ? "–" : metadata.entityID, "foundName": metadata.displayName.isEmpty ? "–" : metadata.displayName,
            "nameToUse": form.name.isEmpty ? (metadata.displayName.isEmpty ? form.id : metadata.displayName) : form.name,
            "endpoints": metadata.endpoints.map {
                ["endpointService": $0.service, "endpointBinding": Self.last($0.binding), "endpointLocation": $0.location]
            } + Self.callback(metadata, form, origin),
            "formats": metadata.nameIDFormats.isEmpty ? "none is named" : metadata.nameIDFormats.map(Self.last).joined(separator: ", "),
            "wantsSigned": metadata.wantsSignedRequests ? "Yes" : "No",
            "validUntil": metadata.validUntilMilliseconds == 0 ? "it does not say" : Moment(milliseconds: metadata.validUntilMilliseconds).text,
            "certificates": metadata.certificates.enumerated().map { index, certificate in
                Self.certificate(
                    certificate, index, isConfirmed: confirmed.contains(OctetText(certificate.sha256)),
                    isExpiryConfirmed: expired.contains(OctetText(certificate.sha256)))
            },
            "obstacles": metadata.problems.map(Self.text), "hasObstacles": !metadata.problems.isEmpty,
            "doubts": metadata.warnings.map(Self.text), "hasDoubts": !metadata.warnings.isEmpty,
        ]
    }

    /// What the MVPD has to register of us, of a provider of OAuth.
    private static func callback(_ metadata: ProviderMetadata, _ form: ConnectForm, _ origin: String) -> [[String: String]] {
        guard !metadata.entryJson.isEmpty, !form.id.isEmpty else { return [] }
        let address = "\(origin)\(KnownPaths.oauthCallback)/\(PercentEncoding.encode(form.id))"
        return [["endpointService": "our redirect URI, to be registered there", "endpointBinding": "", "endpointLocation": address]]
    }

    private static func certificate(_ certificate: ProviderCertificate, _ index: Int, isConfirmed: Bool, isExpiryConfirmed: Bool) -> [String: Any] {
        var content: [String: Any] = [
            "certificateId": "certificate-\(index)", "sha256": certificate.sha256, "groupedSha256": grouped(certificate.sha256),
            "subject": certificate.subject.isEmpty ? "–" : certificate.subject,
            "notAfter": Moment(milliseconds: certificate.notAfterMilliseconds).text, "isForEncryption": !certificate.signs,
            "mayConfirm": certificate.signs && certificate.problem.isEmpty, "isConfirmed": isConfirmed, "certificateProblem": certificate.problem,
            "hasCertificateProblem": !certificate.problem.isEmpty, "certificateNumber": index + 1,
        ]
        if !certificate.warning.isEmpty {
            content["validity"] = ["validityWarning": certificate.warning, "isExpiryConfirmed": isExpiryConfirmed] as [String: Any]
        }
        return content
    }

    /// In groups that the eye can follow.
    private static func grouped(_ digits: String) -> String {
        stride(from: 0, to: digits.utf8.count, by: 8).map { start in
            String(decoding: Array(digits.utf8)[start..<min(start + 8, digits.utf8.count)], as: UTF8.self)
        }.joined(separator: " ")
    }

    private static func text(_ problem: FieldProblem) -> String { problem.field.isEmpty ? problem.message : "\(problem.field) \(problem.message)" }

    /// The last part of a URI, which tells it from the others.
    private static func last(_ uri: String) -> String { uri.split(separator: ":").last.map(String.init) ?? uri }
}
