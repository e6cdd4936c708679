internal import Catalogue
internal import CatalogueFiles
internal import Clocks
internal import Contracts

/// What is asked of a push as a whole.
enum PushRules {
    /// What may stay where it is, and may not be added, by a file either: records that share a callback (RFC 9700 §4.4.2), and requestors that have sign-ins confirmed
    /// and no page of their own to which an upstream sends browsers back (bridge §7.4).
    /// - Parameter formerSharers: Which of some MVPDs shared a callback before the version that the change is made of.
    static func additions(
        before: Configuration, after: Configuration, formerSharers: ([String]) throws -> Set<OctetText>
    ) rethrows -> [FieldProblem] {
        let shared = Set(before.mvpds.filter(\.sharesCallback).map { OctetText($0.id) })
        let unconfirmed = Set(before.requestors.filter(\.cannotConfirm).map { OctetText($0.id) })
        let sharing = after.mvpds.filter { $0.sharesCallback && !shared.contains(OctetText($0.id)) }.map(\.id)
        let former = try formerSharers(sharing)
        let callbacks = sharing.filter { !former.contains(OctetText($0)) }.map { id in
            FieldProblem(
                field: "mvpds/\(id): oauth.callback",
                message: "must not be 'shared' in a record that has not been so; register the record's own address at the MVPD")
        }
        let pairs = after.requestors.filter { $0.cannotConfirm && !unconfirmed.contains(OctetText($0.id)) }.map { requestor in
            FieldProblem(
                field: "requestors/\(requestor.id): confirmsSignIn",
                message: "needs a returnOrigin of its upstream: without our own return page nobody can tell whose browser comes back")
        }
        return callbacks + pairs
    }

    /// A metadata key that is to be encrypted needs a certificate to which it can be encrypted (dashboard §2, #11). Only what the push itself
    /// makes so is refused: a catalogue that lacked a certificate before stays editable.
    static func problems(
        _ changes: [PropertyChange], before: Configuration, after: Configuration, now: Timestamp, formerSharers: ([String]) throws -> Set<OctetText>
    ) rethrows -> [FieldProblem] {
        let former = Catalogue(before)
        let catalogue = Catalogue(after)
        return try additions(before: before, after: after, formerSharers: formerSharers)
            + after.integrations.compactMap { integration in
                guard integration.metadataKeys.contains(where: \.encrypted), let requestor = catalogue.requestor(integration.requestorID),
                    catalogue.metadataCertificate(of: requestor, now: now) == nil
                else { return nil }
                let key = EntityKey(.integrations, integration)
                let isKeyChanged = changes.contains { $0.key == key && ($0.path.isEmpty || $0.path == ["metadataKeys"]) }
                let isCertificateLost = former.requestor(requestor.id).map { former.metadataCertificate(of: $0, now: now) != nil } ?? false
                guard isKeyChanged || isCertificateLost else { return nil }
                return FieldProblem(
                    field: "\(key): metadataKeys", message: "has keys that are to be encrypted, but the requestor has no valid certificate for that")
            }
    }
}
