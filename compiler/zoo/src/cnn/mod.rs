//! Convolutional networks.

pub(crate) mod densenet;
pub(crate) mod efficientnet;
pub(crate) mod hrnet;
pub(crate) mod inception;
pub(crate) mod mobilenet;
pub(crate) mod resnet;
pub(crate) mod squeezenet;
pub(crate) mod unet;
pub(crate) mod vgg;
