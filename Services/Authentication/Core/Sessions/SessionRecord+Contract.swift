internal import Catalogue
internal import Contracts

extension SessionRecord {
    /// The session as its device may see it.
    func contract(in catalogue: Catalogue) -> Session {
        let mvpd = catalogue.mvpd(mvpd.text)
        return Session(
            id: id.text, requestor: key.requestor.text, mvpd: self.mvpd.text, proxyMvpd: mvpd?.isProxied == true ? mvpd?.proxyMvpdID ?? "" : "",
            userID: userID, createdAtMilliseconds: UInt64(clamping: createdAt.milliseconds),
            expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds), kind: origin.kind)
    }

    /// With the identity that the MVPD gave. Only metadata keys that are enabled for the integration leave the service (mvpd §2.5).
    func subjectContract(in catalogue: Catalogue) -> SessionSubject {
        let integration = catalogue.integration(requestor: key.requestor.text, mvpd: mvpd.text)
        let keys = integration?.metadataKeys ?? []
        let told = subject.attributes.filter { attribute in
            let name = attribute.key.metadataName
            return keys.contains { $0.key == name } && (kind != .automatic || StreamingMetadata.covers(attribute.key))
        }
        return SessionSubject(
            session: contract(in: catalogue), upstreamUserID: subject.userID, attributes: told, clientID: clientID.text,
            deviceID: key.device.text, device: device, upstreamSessionID: origin.upstream?.text ?? "")
    }
}
