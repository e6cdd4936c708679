internal import Clocks
internal import Contracts
internal import Storage

/// How values of a family follow each other (apple §1.2).
extension Database {
    /// The value is on the account: it becomes the active one, and the one before is accepted for 72 hours more (I2).
    func activate(_ version: TokenVersionRecord, of family: FamilyRecord, _ touched: inout Touched, now: Timestamp) throws {
        for var other in try versions(of: family.id) where other.state == .active && other.id != version.id {
            other.state = .superseded
            other.supersededAt = now
            other.sealed = nil
            try update(other, of: family)
            touched.versions.insert(other.id)
        }
        var version = version
        version.state = .active
        version.activatedAt = now
        try update(version, of: family)
        touched.versions.insert(version.id)
    }

    /// What Apple's last word on an Update means (apple §1.2, §1.3).
    func settleUpdate(
        of family: FamilyRecord, from old: TokenVersionRecord, to new: TokenVersionRecord, _ end: DeliveryEnd, _ touched: inout Touched,
        now: Timestamp
    ) throws {
        switch end {
        case .done where new.state == .pending: try activate(new, of: family, &touched, now: now)
        case .absent where new.state == .pending && old.state == .active:
            try drop(new, of: family, &touched)
            var (family, old) = (family, old)
            old.state = .revoked
            old.sealed = nil
            try update(old, of: family)
            touched.versions.insert(old.id)
            family.state = .absent
            family.idleAt = now + FamilyRecord.idleLimit
            try update(family)
            touched.families.insert(family.id)
        case .givenUp(isUnclear: false) where new.state == .pending:
            try drop(new, of: family, &touched)
            // The next try is not due for as long as an operator may want to look.
            try postponeRotation(old.id, to: now + .seconds(7 * 86_400))
        // After an unclear try both stay valid until a device shows the new one; and a device may have shown it already.
        case .assumed, .givenUp, .done, .absent: return
        }
    }

    private func drop(_ version: TokenVersionRecord, of family: FamilyRecord, _ touched: inout Touched) throws {
        var version = version
        version.state = .dropped
        try update(version, of: family)
        touched.versions.insert(version.id)
    }

    /// - Returns: False when a newer value is on its way already.
    func reopenUpdate(of family: FamilyRecord, to new: TokenVersionRecord, _ touched: inout Touched) throws -> Bool {
        if new.state == .pending { return true }
        guard new.state == .dropped, new.sealed != nil, try !versions(of: family.id).contains(where: { $0.state == .pending }) else { return false }
        var new = new
        new.state = .pending
        try update(new, of: family)
        touched.versions.insert(new.id)
        return true
    }
}
