internal import Clocks

extension ResponseVerification {
    /// The combined content of the authn statements.
    struct SessionStatement {
        let instant: Timestamp
        let index: String?
        let end: Timestamp?
    }

    /// Step 30. With several statements the first names the session, and the earliest end counts.
    /// - Returns: Nil when there is none, where that is allowed (mvpd §2.8).
    mutating func checkAuthnStatements(of assertion: XmlElement) throws(SamlRejection) -> SessionStatement? {
        var session: SessionStatement?
        for statement in assertion.children("AuthnStatement", in: Namespaces.assertion) {
            let next = try checkAuthnStatement(statement)
            let ends = [session?.end, next.end].compactMap { $0 }
            session = SessionStatement(
                instant: session?.instant ?? next.instant, index: session == nil ? next.index : session?.index, end: ends.min())
        }
        try trace.require(
            session != nil || !expected.requiresAuthnStatement, .authnStatement, .authnStatement, "The assertion has no authn statement.")
        return session
    }

    private mutating func checkAuthnStatement(_ statement: XmlElement) throws(SamlRejection) -> SessionStatement {
        guard let instant = statement.attribute("AuthnInstant").flatMap(SamlInstant.parse), instant <= now + expected.clockSkew else {
            throw trace.fail(.authnStatement, .authnStatement, "The sign-in lies in the future, or has no time.")
        }
        let sent = statement.attribute("SessionNotOnOrAfter")
        let end = sent.flatMap(SamlInstant.parse)
        guard sent == nil || end.map({ now < $0 }) == true else {
            throw trace.fail(.authnStatement, .authnStatement, "The MVPD's session has ended.")
        }
        guard !expected.forceAuthn || instant >= expected.requestedAt - expected.clockSkew else {
            throw trace.fail(.authnStatement, .authnStatement, "The person did not sign in anew, as was asked.")
        }
        return SessionStatement(instant: instant, index: statement.attribute("SessionIndex"), end: end)
    }

    /// Step 32.
    mutating func checkUserID(_ nameID: NameID, _ statements: AttributeStatements) throws(SamlRejection) -> UpstreamUserID {
        let userID = expected.guidAttributeName.map { statements.onlyValue(of: $0).map(UpstreamUserID.init) } ?? nameID.value
        guard let userID, !userID.rawValue.isEmpty else {
            throw trace.fail(.attributes, .subjectMissing, "The assertion does not hold the user id.")
        }
        trace.pass(.attributes)
        return userID
    }
}
