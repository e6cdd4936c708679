/// What a profile belongs to, beside its MVPD (rest-v2 §4).
struct ProfileOwner: Sendable, Hashable {
    let client: String
    let device: DeviceIdentifier
    let serviceProvider: String
}
