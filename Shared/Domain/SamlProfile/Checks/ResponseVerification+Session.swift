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
        let begun = try instant("AuthnInstant", of: statement, .authnStatement, .authnStatement)
        guard let instant = begun, instant <= now + expected.clockSkew else {
            throw trace.fail(
                .authnStatement, .authnStatement, "The sign-in lies in the future, or has no time.", clock: begun == nil ? nil : .behind)
        }
        let end = try self.instant("SessionNotOnOrAfter", of: statement, .authnStatement, .authnStatement)
        guard end.map({ now < $0 }) ?? true else {
            throw trace.fail(.authnStatement, .authnStatement, "The MVPD's session has ended.")
        }
        guard !expected.forceAuthn || instant >= expected.requestedAt - expected.clockSkew else {
            throw trace.fail(.authnStatement, .authnStatement, "The person did not sign in anew, as was asked.")
        }
        return SessionStatement(instant: instant, index: statement.attribute("SessionIndex"), end: end)
    }

    /// Step 32.
    mutating func checkUserID(_ nameID: NameID?, of assertion: XmlElement) throws(SamlRejection) -> UpstreamUserID {
        let userID = try expected.guidAttributeName.map { name throws(SamlRejection) in try only(name, in: assertion) } ?? nameID?.value.rawValue
        guard let userID, !userID.isEmpty else {
            throw trace.fail(.attributes, .subjectMissing, "The assertion does not hold the user id: its NameID is empty.")
        }
        trace.pass(.attributes)
        return UpstreamUserID(userID)
    }

    /// The person's id out of the attribute of that name.
    private mutating func only(_ name: String, in assertion: XmlElement) throws(SamlRejection) -> String {
        switch IdentifyingAttribute(name, in: assertion) {
        case .value(let value): return value
        case .absent: throw trace.fail(.attributes, .subjectMissing, "The assertion does not hold the attribute of the user id, \(name).")
        case .empty: throw trace.fail(.attributes, .subjectMissing, "The attribute of the user id, \(name), is there without a value.")
        case .several:
            throw trace.fail(
                .attributes, .subjectMissing,
                "The attribute of the user id, \(name), has different values: which of them is the person, nobody knows.")
        case .structured:
            throw trace.fail(
                .attributes, .subjectMissing, "The attribute of the user id, \(name), holds an element other than a NameID where its text belongs.")
        }
    }
}
