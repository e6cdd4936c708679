/// Why sign-ins failed, in a sentence for people who do not know the codes: those of mvpd §2.3, of sign-ins by OAuth, and of statuses.
enum SignInReasonText {
    /// - Parameter reason: As `SignInReport.reason` has it.
    static func sentence(_ reason: String) -> String {
        let key = OctetText(reason)
        if let known = saml[key] ?? oauth[key] ?? statuses[key] { return known }
        return reason.isEmpty ? "Our checks refused the answer." : "The sign-in ended with “\(reason)”."
    }

    private static let saml: [OctetText: String] = [
        "bind.params": "The answer lacks a field of its form, or has one twice.",
        "bind.size": "The answer is larger than what is read here.",
        "bind.base64": "The answer is not encoded as Base64.",
        "state.unknown": "No sign-in waits for the answer.",
        "xml.dtd": "The answer has a DOCTYPE, which is not read.",
        "xml.form": "The answer is no well-formed XML.",
        "xml.limit": "The answer's XML is larger or deeper than what is read here.",
        "xml.root": "The answer is no SAML response.",
        "xml.dupid": "Two elements of the answer have the same ID.",
        "xsw.position": "The assertion is not where it has to be in the answer.",
        "xsw.sigposition": "The signature is not where it has to be in the answer.",
        "sig.missing": "The answer is not signed.",
        "sig.reference": "The signature does not cover what the answer says.",
        "sig.transform": "The signature is made in a way that is not accepted.",
        "sig.object": "The signature holds something beside the signed answer.",
        "sig.alg": "The signature's algorithm is not accepted.",
        "sig.invalid": "The signature does not fit the MVPD's certificates.",
        "enc.alg": "The assertion's encryption is not accepted.",
        "enc.failed": "The assertion cannot be decrypted with our keys.",
        "enc.required": "The assertion is not encrypted, and the catalogue demands that.",
        "resp.destination": "The answer is for another address than ours.",
        "resp.stale": "The answer is older than what is accepted.",
        "resp.request": "The answer is to another request than the one that was sent.",
        "unsolicited": "The answer is to no request of ours.",
        "issuer": "The answer's issuer is not the one in the catalogue.",
        "assert.form": "The answer's assertion is malformed.",
        "subject.format": "The person's name has another format than the one that was asked for.",
        "subject.missing": "The answer does not say who the person is.",
        "confirm": "The assertion's confirmation does not fit the request.",
        "time": "The assertion is not valid at this time. The clocks may differ.",
        "condition": "The assertion has a condition that is not known here.",
        "audience": "The assertion is for another service provider than us.",
        "authn": "The assertion does not say how the person signed in.",
        "replay": "The assertion was used before.",
        "unusable": "The answer could not be checked here.",
    ]

    private static let oauth: [OctetText: String] = [
        "oauth.params": "The MVPD's answer lacks a parameter, or has one twice.",
        "oauth.callback": "The answer came to another callback address than the one that was named.",
        "oauth.issuer": "The answer's issuer is not the one in the catalogue.",
        "oauth.code": "The MVPD did not take the code of its own answer.",
        "oauth.unavailable": "The MVPD's token address, keys or profile could not be reached.",
        "idtoken.missing": "The MVPD sent no identity token.",
        "idtoken.form": "The identity token is malformed.",
        "idtoken.alg": "The identity token's algorithm is not accepted.",
        "idtoken.key": "The identity token names a key that the MVPD does not publish.",
        "idtoken.signature": "The identity token's signature does not fit the MVPD's keys.",
        "idtoken.issuer": "The identity token's issuer is not the one in the catalogue.",
        "idtoken.audience": "The identity token is for another client than ours.",
        "idtoken.azp": "The identity token was issued to another client than ours.",
        "idtoken.time": "The identity token is not valid at this time. The clocks may differ.",
        "idtoken.nonce": "The identity token is of another sign-in.",
        "profile.subject": "The profile is of another person than the identity token.",
    ]

    /// Of SAML core §3.2.2.2, RFC 6749 §4.1.2.1 and §5.2, as misconfigured MVPDs send them.
    private static let statuses: [OctetText: String] = [
        "Requester": "The MVPD says that our request is wrong.",
        "Responder": "The MVPD says that it could not answer the request.",
        "VersionMismatch": "The MVPD does not speak our version of SAML.",
        "RequestDenied": "The MVPD refuses to answer our requests.",
        "RequestUnsupported": "The MVPD does not support our request.",
        "InvalidNameIDPolicy": "The MVPD does not offer the format of names that was asked for.",
        "NoAuthnContext": "The MVPD does not offer the way to sign in that was asked for.",
        "NoAvailableIDP": "The MVPD knows no service that could sign the person in.",
        "UnsupportedBinding": "The MVPD does not support the way in which it was asked to answer.",
        "UnknownPrincipal": "The MVPD does not know the person.",
        "invalid_request": "The MVPD says that our request is malformed.",
        "invalid_client": "The MVPD does not accept our client or its secret.",
        "invalid_grant": "The MVPD did not take the code of its own answer.",
        "unauthorized_client": "The MVPD does not allow our client to sign people in.",
        "access_denied": "The MVPD refused the sign-in.",
        "unsupported_grant_type": "The MVPD does not offer the flow that was asked for.",
        "unsupported_response_type": "The MVPD does not offer the flow that was asked for.",
        "invalid_scope": "The MVPD does not offer a scope that was asked for.",
        "server_error": "The MVPD had an internal fault.",
        "temporarily_unavailable": "The MVPD is overloaded or being maintained.",
    ]
}
